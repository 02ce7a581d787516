using Garnet.Common;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Makes a collection in chunks of all that it begins with. What each chunk will hold is counted first, so that each is made once, as large
/// as it has to be: nothing is split or written anew, however large the entries are.
/// </summary>
public static unsafe class MemberFill
{
    // What one chunk gets, and where it lies then.
    private struct Share
    {
        public long Bytes;
        public byte* At;
        public int Entries;
        public int Capacity;
    }

    /// <summary>
    /// Makes the collection of all operands; of a key that is named twice the last counts. False if that cannot be: nothing has changed then.
    /// </summary>
    public static bool TryCreate(
        ref RecordEdit edit, MemberShape shape, in Operands operands, in CollectionLimits limits, in FillTerms terms, out int added)
    {
        added = 0;
        using NativeArray<Share> shares = Plan(ref edit, shape, Root.ChunkedBytes, operands, terms.ExpireAtMs);
        if (shares.Items == null)
            return false;
        uint chunks = Root.Chunks(edit.Value);
        bool exceeds = false;
        long bytes = 0;
        for (Operands.Reader reader = operands.Read(); Next(ref reader, shape.Form, terms.ExpireAtMs, out Entry parts);)
        {
            ulong hash = RecordEdit.Hash(parts.Key, parts.KeyBytes, edit.Owner);
            Share* share = shares.Items + ChunkedMembers.NumberOf(hash, chunks);
            var page = new Page(share->At, share->Capacity);
            Entry old = default;
            byte fingerprint = ChunkedMembers.Fingerprint(hash);
            int slot = terms.AreDistinct ? -1 : page.Find(shape.Form, fingerprint, parts.Key, parts.KeyBytes, out old);
            if (slot >= 0)
                page.Remove(slot, old.Bytes);
            int entryBytes = (int)Entry.BytesOf(shape.Form, parts);
            Entry.Write(shape.Form, page.TryAdd(fingerprint, entryBytes), parts); // there is room for every one that was counted
            bytes += entryBytes - old.Bytes;
            added += slot >= 0 ? 0 : 1;
            exceeds |= limits.Exceeds(parts, added);
        }

        ChunkedMembers.Settle(ref edit, added, bytes, exceeds);
        End(ref edit, shape.Form, CountOf(operands, shape.Form));
        return true;
    }

    /// <summary>
    /// Makes the collection without entries, its root of that many bytes, and chunks with room for all operands: they are put in one by one, and
    /// <see cref="End"/> follows. False if that cannot be: nothing has changed then.
    /// </summary>
    public static bool TryBegin(ref RecordEdit edit, MemberShape shape, int rootBytes, in Operands operands)
    {
        using NativeArray<Share> shares = Plan(ref edit, shape, rootBytes, operands, expireAtMs: 0);
        return shares.Items != null;
    }

    /// <summary>Ends a collection that was made for so many entries: without one there is no record (collections.M1), and nothing is larger than what came of them wants.</summary>
    public static void End(ref RecordEdit edit, EntryForm form, int entries)
    {
        if (!edit.Exists || Root.ChunkedCount(edit.Value) == entries)
            return;
        if (Root.ChunkedCount(edit.Value) == 0)
        {
            edit.Remove();
            return;
        }

        if (!edit.OutOfMemory) // what has been refused is for the caller to say: an attempt here without need would hide it
            ChunkedMembers.Fit(ref edit, form);
    }

    /// <summary>How many entries the operands are.</summary>
    public static int CountOf(in Operands operands, EntryForm form) => form == EntryForm.Member ? operands.Count : operands.Count / 2;

    // The root and an empty chunk for each share; nothing if there is no memory, or a chunk, or an entry, would be too large.
    private static NativeArray<Share> Plan(ref RecordEdit edit, MemberShape shape, int rootBytes, in Operands operands, long expireAtMs)
    {
        byte* root = edit.Create(shape.Kind, rootBytes);
        if (root == null)
        {
            edit.OutOfMemory = false;
            return default;
        }

        new Span<byte>(root, rootBytes).Clear();
        *root = (byte)RootFlags.Chunked;
        edit.Close();
        edit.TakeOwner();
        uint chunks = ChunkedMembers.ChunksFor(operands.EncodedBytes(), CountOf(operands, shape.Form));
        var shares = new NativeArray<Share>(chunks);
        for (Operands.Reader reader = operands.Read(); Next(ref reader, shape.Form, expireAtMs, out Entry parts);)
        {
            Share* share = shares.Items + ChunkedMembers.NumberOf(RecordEdit.Hash(parts.Key, parts.KeyBytes, edit.Owner), chunks);
            share->Bytes += Entry.BytesOf(shape.Form, parts);
            share->Entries++;
        }

        if (TryMake(ref edit, rootBytes, shares.Items, chunks))
            return shares;
        shares.Dispose();
        return default;
    }

    // False, and all of it taken back.
    private static bool TryMake(ref RecordEdit edit, int rootBytes, Share* shares, uint chunks)
    {
        uint done = 0;
        for (; done < chunks; done++)
        {
            Share* share = shares + done;
            share->Capacity = Page.CapacityFor(share->Entries, share->Bytes);
            bool isTooLarge = share->Bytes > Store.ElementBytesMax || share->Capacity > Store.ValueBytesMax;
            share->At = isTooLarge ? null : edit.WriteChunk(done, share->Capacity);
            if (share->At == null)
                break;
            Page.Clear(share->At, share->Capacity);
        }

        byte* root = done == chunks ? edit.Write(rootBytes, force: true) : null;
        if (root != null)
        {
            Root.SetChunks(root, chunks);
            edit.Close();
            return true;
        }

        while (done > 0)
            edit.RemoveChunk(--done);
        edit.DropOwner();
        edit.Remove();
        edit.OutOfMemory = false;
        return false;
    }

    // A field and its value, a member, or a score and its member: the score is put in by whoever fills in members of that kind.
    private static bool Next(ref Operands.Reader reader, EntryForm form, long expireAtMs, out Entry parts)
    {
        parts = default;
        if (!reader.Next())
            return false;
        if (form == EntryForm.Scored)
            reader.Next();
        parts = new Entry { Key = reader.Bytes, KeyBytes = reader.Length, ExpireAtMs = expireAtMs };
        if (form != EntryForm.Pair)
            return true;
        reader.Next();
        parts.Value = reader.Bytes;
        parts.ValueBytes = reader.Length;
        return true;
    }
}
