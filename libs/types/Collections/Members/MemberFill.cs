using Garnet.Common;
using Garnet.Common.Bytes;
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
        ref RecordEdit edit, MemberShape shape, in Operands operands, in CollectionLimits limits, in FillTerms terms, out FillCounts counts)
    {
        counts = default;
        using NativeArray<Share> shares = Plan(ref edit, shape, operands, terms);
        if (shares.Items == null)
            return false;
        uint chunks = Root.Chunks(edit.Value);
        bool exceeds = false;
        long bytes = 0;
        int added = 0, rescored = 0;
        double score = 0;
        for (Operands.Reader reader = operands.Read(); Next(ref reader, shape.Form, terms, out Entry parts);)
        {
            if (shape.Form == EntryForm.Scored)
            {
                score = ScoreOf(parts, terms);
                parts.Value = (byte*)&score;
                parts.ValueBytes = sizeof(double);
            }

            ulong hash = RecordEdit.Hash(parts.Key, parts.KeyBytes, edit.Owner);
            Share* share = shares.Items + ChunkedMembers.NumberOf(hash, chunks);
            var page = new Page(share->At, share->Capacity);
            Entry old = default;
            byte fingerprint = ChunkedMembers.Fingerprint(hash);
            int slot = terms.AreDistinct ? -1 : page.Find(shape.Form, fingerprint, parts.Key, parts.KeyBytes, out old);
            if (slot >= 0)
            {
                rescored += shape.Form == EntryForm.Scored && old.Score != score ? 1 : 0;
                page.Remove(slot, old.Bytes);
            }

            int entryBytes = (int)Entry.BytesOf(shape.Form, parts);
            Entry.Write(shape.Form, page.TryAdd(fingerprint, entryBytes), parts); // there is room for every one that was counted
            bytes += entryBytes - old.Bytes;
            added += slot >= 0 ? 0 : 1;
            exceeds |= limits.Exceeds(parts, added);
        }

        ChunkedMembers.Settle(ref edit, added, bytes, exceeds);
        if (added < CountOf(operands, shape, terms))
            ChunkedMembers.Fit(ref edit, shape.Form); // some came twice: the room reserved for these is given back
        counts = new FillCounts(added, rescored);
        return true;
    }

    /// <summary>How many entries the operands are.</summary>
    public static int CountOf(in Operands operands, MemberShape shape, in FillTerms terms) =>
        shape.Form == EntryForm.Member || terms.AreRaw ? operands.Count : operands.Count / 2;

    // The root and an empty chunk for each share; nothing if there is no memory, or a chunk, or an entry, would be too large.
    private static NativeArray<Share> Plan(ref RecordEdit edit, MemberShape shape, in Operands operands, in FillTerms terms)
    {
        edit.TakeOwner();
        byte* root = edit.Create(shape.Kind, Root.ChunkedBytes);
        if (root == null)
        {
            edit.DropOwner();
            edit.OutOfMemory = false;
            return default;
        }

        new Span<byte>(root, Root.ChunkedBytes).Clear();
        *root = (byte)RootFlags.Chunked;
        edit.Close();
        uint chunks = ChunkedMembers.ChunksFor(operands.EncodedBytes(), CountOf(operands, shape, terms));
        var shares = new NativeArray<Share>(chunks);
        for (Operands.Reader reader = operands.Read(); Next(ref reader, shape.Form, terms, out Entry parts);)
        {
            Share* share = shares.Items + ChunkedMembers.NumberOf(RecordEdit.Hash(parts.Key, parts.KeyBytes, edit.Owner), chunks);
            share->Bytes += Entry.BytesOf(shape.Form, parts);
            share->Entries++;
        }

        if (TryMake(ref edit, shares.Items, chunks))
            return shares;
        shares.Dispose();
        return default;
    }

    // False, and all of it taken back.
    private static bool TryMake(ref RecordEdit edit, Share* shares, uint chunks)
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

        byte* root = done == chunks ? edit.Write(Root.ChunkedBytes, force: true) : null;
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

    // Reads the next entry: a member, a field and its value, or a score and its member. Of the last the value points at the score, for ScoreOf to read.
    private static bool Next(ref Operands.Reader reader, EntryForm form, in FillTerms terms, out Entry parts)
    {
        parts = default;
        if (!reader.Next())
            return false;
        parts = new Entry { Key = reader.Bytes, KeyBytes = reader.Length, ExpireAtMs = terms.ExpireAtMs };
        if (form == EntryForm.Member)
            return true;
        byte* first = reader.Bytes;
        int firstBytes = reader.Length;
        if (terms.AreRaw)
        {
            parts.Value = first;
            parts.Key = first + sizeof(double);
            parts.KeyBytes = firstBytes - sizeof(double);
            parts.ValueBytes = sizeof(double);
            return true;
        }

        reader.Next();
        parts.Value = reader.Bytes;
        parts.ValueBytes = reader.Length;
        if (form == EntryForm.Pair)
            return true;
        parts.Key = reader.Bytes; // the score stands in front
        parts.KeyBytes = reader.Length;
        parts.Value = first;
        parts.ValueBytes = firstBytes;
        return true;
    }

    private static double ScoreOf(in Entry parts, in FillTerms terms)
    {
        double score = 0;
        if (terms.AreRaw)
            score = parts.Score;
        else
            NumberText.TryDouble(parts.ValueSpan, out score);
        return score + 0.0; // -0 becomes 0
    }
}
