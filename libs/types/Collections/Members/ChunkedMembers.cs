using System.Numerics;
using Garnet.Common.Bytes;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Entries in chunks, by linear hashing: of n chunks, the one numbered by the low bits of the key's hash that stays below n. When the
/// entries pass a mean size per chunk, one chunk, the next in turn, is split in two; when they fall far below it, the last is merged
/// back. So the collection grows by one small step at a time, and its root holds no directory.
/// A chunk is written anew when it is full, with an eighth of free room; it may have any size, so there is no overflow.
/// collections.L1: chunks 0 to n-1 are there; an entry is in the chunk its hash names.
/// collections.L2: the hash is seeded by the owner number, which nobody outside knows.
/// </summary>
public static unsafe class ChunkedMembers
{
    // Large entries that meet in a page which cannot hold them are dealt out to more chunks than their bytes want, but not to any number.
    private const int ChunkBytes = 2048, RandomTries = 64, DrawsForOne = 3, ChunksPerEntryMax = 256;

    public static bool Find(ref RecordEdit edit, EntryForm form, byte* key, int keyBytes, out Entry entry)
    {
        ulong hash = RecordEdit.Hash(key, keyBytes, edit.Owner);
        Page page = Open(ref edit, NumberOf(hash, Root.Chunks(edit.Value)));
        return page.Find(form, Fingerprint(hash), key, keyBytes, out entry) >= 0;
    }

    /// <summary>Chunk of a hash among so many.</summary>
    public static uint NumberOf(ulong hash, uint chunks)
    {
        uint low = (uint)hash, number = low & (uint)((1UL << (BitOperations.Log2(chunks) + 1)) - 1);
        return number < chunks ? number : low & (uint)((1UL << BitOperations.Log2(chunks)) - 1);
    }

    public static byte Fingerprint(ulong hash) => (byte)(hash >> 56);

    /// <summary>A chunk to look at.</summary>
    public static Page Open(ref RecordEdit edit, uint number)
    {
        byte* at = edit.Chunk(number, out int bytes);
        Garnet.Common.Faults.Check.That(at != null, "collections.L1 every chunk below their number is there");
        return new Page(at, bytes);
    }

    /// <summary>As many chunks as that many entries of so many bytes want.</summary>
    public static uint ChunksFor(long bytes, int entries) =>
        (uint)Math.Clamp((bytes + ChunkBytes - 1) / ChunkBytes, 1, Math.Max(entries, 1));

    /// <summary>As many chunks as there will be once the entries have so many bytes more, or fewer.</summary>
    internal static uint ChunksBehind(byte* root, long change)
    {
        long bytes = Math.Max(Root.EntryBytes(root) + change, 0);
        uint chunks = Root.Chunks(root);
        return (uint)Math.Clamp(chunks, (bytes + ChunkBytes - 1) / ChunkBytes, Math.Max(bytes / (ChunkBytes / 3), 0) + 1);
    }

    /// <summary>The chunk that one of that number, which is not the first, was a part of, and becomes one of again.</summary>
    internal static uint PartOf(uint number) => number - (1u << BitOperations.Log2(number));

    /// <summary>Merges chunks until there are no more than the entries want, and writes those anew that have more room than they use.</summary>
    public static void Fit(ref RecordEdit edit, EntryForm form)
    {
        uint chunks = Root.Chunks(edit.Value);
        for (uint before = chunks + 1; IsSparse(edit.Value) && chunks < before; chunks = Root.Chunks(edit.Value))
        {
            before = chunks;
            Merge(ref edit, form, chunks - 1);
        }

        for (uint number = 0; number < Root.Chunks(edit.Value); number++)
            ShrinkIfWide(ref edit, number, form, Open(ref edit, number));
    }

    /// <summary>Moves packed entries to a first chunk, with room for so many bytes more.</summary>
    public static bool Unpack(ref RecordEdit edit, EntryForm form, long moreBytes)
    {
        int count = Root.PackedCount(edit.Value), bytes = edit.ValueBytes - Root.PackedBytes;
        edit.TakeOwner();
        int capacity = Page.CapacityFor(count + 1, bytes + moreBytes);
        byte* at = edit.WriteChunk(0, capacity);
        if (at == null)
        {
            edit.DropOwner();
            return false;
        }

        Page page = Page.Clear(at, capacity);
        byte* from = edit.Value + Root.PackedBytes, end = from + bytes;
        for (; Entry.TryRead(form, from, end, out Entry entry); from += entry.Bytes)
            page.Take(Fingerprint(RecordEdit.Hash(entry.Key, entry.KeyBytes, edit.Owner)), entry, form);
        return TrySettleUnpacked(ref edit, Root.Flags(edit.Value), count, bytes);
    }

    /// <summary>Moves the members of a set of integers to chunks, as text of so many bytes.</summary>
    public static bool UnpackIntegers(ref RecordEdit edit, int bytes)
    {
        int count = IntegerSet.Count(edit.Value), capacity = Page.CapacityFor(count, bytes);
        edit.TakeOwner();
        byte* at = edit.WriteChunk(0, capacity);
        if (at == null)
        {
            edit.DropOwner();
            return false;
        }

        Page page = Page.Clear(at, capacity);
        byte* digits = stackalloc byte[NumberText.Int64BytesMax + 32];
        for (int i = 0; i < count; i++)
        {
            int length = (int)(NumberText.Write(digits, IntegerSet.At(edit.Value, i)) - digits);
            var entry = new Entry { Key = digits, KeyBytes = length, Bytes = length + 1 };
            page.Take(Fingerprint(RecordEdit.Hash(digits, length, edit.Owner)), entry, EntryForm.Member);
        }

        if (!TrySettleUnpacked(ref edit, RootFlags.None, count, bytes))
            return false;
        for (uint chunks = 1; bytes > chunks * (long)ChunkBytes && Root.Chunks(edit.Value) == chunks; chunks++)
            Split(ref edit, EntryForm.Member, chunks);
        return true;
    }

    /// <summary>Puts an entry in; whoever has just looked for its key in vain says so.</summary>
    public static PutResult Put(ref RecordEdit edit, EntryForm form, in Entry parts, in CollectionLimits limits, bool isNew = false)
    {
        int bytes = (int)Entry.BytesOf(form, parts);
        ulong hash = RecordEdit.Hash(parts.Key, parts.KeyBytes, edit.Owner);
        uint number = NumberOf(hash, Root.Chunks(edit.Value));
        if (!TryOpenToWrite(ref edit, number, out Page page))
            return PutResult.Failed;
        Entry old = default;
        int slot = isNew ? -1 : page.Find(form, Fingerprint(hash), parts.Key, parts.KeyBytes, out old);
        if (slot >= 0 && old.Bytes == bytes)
        {
            Entry.Write(form, old.Start, parts);
            if (limits.Exceeds(parts, 0))
                Root.Raise(ref edit, RootFlags.Converted);
            return PutResult.Replaced;
        }

        bool replaces = slot >= 0;
        int oldBytes = old.Bytes;
        // None but large entries meet in a page that is full for good.
        while (!page.HasRoom(bytes) && Page.CapacityFor(page.Count + 1, page.LiveBytes - (long)oldBytes + bytes) > Store.ValueBytesMax)
        {
            if (!TryDealOut(ref edit, form) || !TryOpenToWrite(ref edit, number = NumberOf(hash, Root.Chunks(edit.Value)), out page))
                return PutResult.Failed;
            slot = replaces ? page.Find(form, Fingerprint(hash), parts.Key, parts.KeyBytes, out _) : -1;
        }

        if (!page.HasRoom(bytes))
        {
            if (!TryGrow(ref edit, number, form, ref page, slot, bytes))
                return PutResult.Failed;
        }
        else if (replaces)
        {
            page.Remove(slot, oldBytes);
        }

        Entry.Write(form, page.TryAdd(Fingerprint(hash), bytes), parts);
        long count = Root.ChunkedCount(edit.Value) + (replaces ? 0 : 1);
        Settle(ref edit, count, Root.EntryBytes(edit.Value) + bytes - oldBytes, limits.Exceeds(parts, count));
        uint chunks = Root.Chunks(edit.Value);
        if (Root.EntryBytes(edit.Value) > (long)chunks * ChunkBytes && chunks < count)
            Split(ref edit, form, chunks);
        return replaces ? PutResult.Replaced : PutResult.Added;
    }

    public static bool Remove(ref RecordEdit edit, EntryForm form, byte* key, int keyBytes)
    {
        ulong hash = RecordEdit.Hash(key, keyBytes, edit.Owner);
        uint number = NumberOf(hash, Root.Chunks(edit.Value));
        if (Open(ref edit, number).Find(form, Fingerprint(hash), key, keyBytes, out _) < 0)
            return false;
        if (!TryOpenToWrite(ref edit, number, out Page page))
            return false;
        int slot = page.Find(form, Fingerprint(hash), key, keyBytes, out Entry entry);
        long count = Root.ChunkedCount(edit.Value) - 1, bytes = Root.EntryBytes(edit.Value) - entry.Bytes;
        if (count == 0)
        {
            edit.Remove();
            return true;
        }

        page.Remove(slot, entry.Bytes);
        Settle(ref edit, count, bytes, converts: false);
        ShrinkIfWide(ref edit, number, form, page);
        if (IsSparse(edit.Value))
            Merge(ref edit, form, Root.Chunks(edit.Value) - 1);
        return true;
    }

    /// <summary>As many draws will come to these chunks, or to some more.</summary>
    public static void ForeseeRandom(ref RecordEdit edit, RandomBits random, long draws)
    {
        uint chunks = Root.Chunks(edit.Value);
        ulong slots = SlotsDrawn(edit.Value, chunks);
        edit.BeginForesight();
        // A draw is tried as often as there are slots for an entry, by chance some more; of the bound nearly all chunks are among.
        long some = Math.Min(draws, chunks);
        long slotsForOne = Math.Min(((long)slots * chunks / Root.ChunkedCount(edit.Value)) + 1, RandomTries);
        long tries = Math.Min((some + (4 * (long)Math.Sqrt(some))) * slotsForOne, (long)chunks * DrawsForOne);
        for (; tries > 0 && edit.TryForesee((uint)random.Below(chunks)); tries--)
            random.Below(slots);
    }

    // Chunks hold different numbers of entries: a slot that is not there is drawn again, so that entries are as likely.
    private static ulong SlotsDrawn(byte* root, uint chunks) => (ulong)((Root.ChunkedCount(root) / chunks) + 4) * DrawsForOne;

    public static Entry Random(ref RecordEdit edit, EntryForm form, ref RandomBits random)
    {
        uint chunks = Root.Chunks(edit.Value);
        ulong slots = SlotsDrawn(edit.Value, chunks);
        for (int tries = 0; ; tries++)
        {
            Page page = Open(ref edit, (uint)random.Below(chunks));
            ulong slot = random.Below(tries < RandomTries || page.Count == 0 ? slots : (ulong)page.Count);
            if (slot < (ulong)page.Count)
                return page.EntryAt(form, (int)slot);
        }
    }

    private static bool IsSparse(byte* root) =>
        Root.Chunks(root) > 1 && Root.EntryBytes(root) < (Root.Chunks(root) - 1L) * (ChunkBytes / 3);

    // The entries are in chunk 0: makes the record their root, or takes it all back.
    private static bool TrySettleUnpacked(ref RecordEdit edit, RootFlags flags, long count, long bytes)
    {
        byte* value = edit.Write(Root.ChunkedBytes, force: true);
        if (value == null)
        {
            edit.RemoveChunk(0);
            edit.DropOwner();
            return false;
        }

        new Span<byte>(value, Root.ChunkedBytes).Clear();
        *value = (byte)(flags | RootFlags.Chunked);
        Root.SetChunks(value, 1);
        Root.SetChunkedCount(value, count);
        Root.SetEntryBytes(value, bytes);
        edit.Close();
        return true;
    }

    private static bool TryOpenToWrite(ref RecordEdit edit, uint number, out Page page)
    {
        byte* at = edit.OpenChunk(number, out int bytes);
        page = new Page(at, bytes);
        return at != null;
    }

    // Splits once more, to part large entries that are in one page; false if there is no memory, or chance has it that they cannot be parted.
    private static bool TryDealOut(ref RecordEdit edit, EntryForm form)
    {
        uint chunks = Root.Chunks(edit.Value);
        if (chunks / ChunksPerEntryMax > Root.ChunkedCount(edit.Value))
        {
            edit.RefuseSize();
            return false;
        }

        Split(ref edit, form, chunks);
        edit.OutOfMemory = Root.Chunks(edit.Value) == chunks;
        return !edit.OutOfMemory;
    }

    // Writes the page anew, without the entry of that slot and with room for another; what is dead stays behind if it is much.
    private static bool TryGrow(ref RecordEdit edit, uint number, EntryForm form, ref Page page, int without, int bytes)
    {
        int withoutBytes = without < 0 ? 0 : page.EntryAt(form, without).Bytes;
        bool whole = without < 0 && page.DeadBytes * 8L < page.Bytes;
        int capacity = Page.CapacityFor(page.Count + 1, page.LiveBytes + (whole ? page.DeadBytes : 0) - (long)withoutBytes + bytes);
        if (whole && capacity > Store.ValueBytesMax)
            (whole, capacity) = (false, Page.CapacityFor(page.Count + 1, page.LiveBytes + (long)bytes));
        byte* fresh = edit.BeginReplace(number, capacity, out _);
        if (fresh == null)
            return false;
        whole &= capacity >= page.Bytes && page.IsLike(capacity);
        Page grown = whole ? page.CopyTo(fresh, capacity) : Page.Clear(fresh, capacity);
        for (int slot = 0; slot < page.Count && !whole; slot++)
        {
            if (slot != without)
                grown.Take(page.FingerprintAt(slot), page.EntryAt(form, slot), form);
        }

        edit.EndReplace();
        page = grown;
        return true;
    }

    private static void ShrinkIfWide(ref RecordEdit edit, uint number, EntryForm form, Page page)
    {
        if (page.LiveBytes >= page.Bytes / 2 || page.Bytes <= ChunkBytes / 2)
            return;
        int capacity = Page.CapacityFor(page.Count, page.LiveBytes);
        byte* fresh = edit.BeginReplace(number, capacity, out _);
        if (fresh == null)
        {
            edit.OutOfMemory = false; // it stays as large as it is
            return;
        }

        Page small = Page.Clear(fresh, capacity);
        for (int slot = 0; slot < page.Count; slot++)
            small.Take(page.FingerprintAt(slot), page.EntryAt(form, slot), form);
        edit.EndReplace();
    }

    /// <summary>Notes what is in all chunks together.</summary>
    public static void Settle(ref RecordEdit edit, long count, long bytes, bool converts)
    {
        byte* value = edit.Write(edit.ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(value != null, "store.E4 a small record can be moved");
        Root.SetChunkedCount(value, count);
        Root.SetEntryBytes(value, bytes);
        if (converts)
            *value |= (byte)RootFlags.Converted;
        edit.Close();
    }

    private static void SetChunks(ref RecordEdit edit, uint chunks)
    {
        byte* value = edit.Write(edit.ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(value != null, "store.E4 a small record can be moved");
        Root.SetChunks(value, chunks);
        edit.Close();
    }

    // Deals the entries of the chunk whose turn it is out to itself and a new one. Without memory for that it waits for a later entry.
    private static void Split(ref RecordEdit edit, EntryForm form, uint chunks)
    {
        uint bit = 1u << BitOperations.Log2(chunks), number = PartOf(chunks);
        if (!edit.CanRead(number))
            return;
        Page page = Open(ref edit, number);
        int moved = 0, movedBytes = 0;
        for (int slot = 0; slot < page.Count; slot++)
        {
            Entry entry = page.EntryAt(form, slot);
            if ((RecordEdit.Hash(entry.Key, entry.KeyBytes, edit.Owner) & bit) == 0)
                continue;
            moved++;
            movedBytes += entry.Bytes;
        }

        int capacity = Page.CapacityFor(moved, movedBytes);
        int keptCapacity = Page.CapacityFor(page.Count - moved, page.LiveBytes - movedBytes);
        byte* added = edit.WriteChunk(chunks, capacity);
        byte* kept = added == null ? null : edit.BeginReplace(number, keptCapacity, out _);
        if (kept == null)
        {
            if (added != null)
                edit.RemoveChunk(chunks);
            edit.OutOfMemory = false;
            return;
        }

        Page left = Page.Clear(kept, keptCapacity), right = Page.Clear(added, capacity);
        for (int slot = 0; slot < page.Count; slot++)
        {
            Entry entry = page.EntryAt(form, slot);
            Page to = (RecordEdit.Hash(entry.Key, entry.KeyBytes, edit.Owner) & bit) == 0 ? left : right;
            to.Take(page.FingerprintAt(slot), entry, form);
        }

        edit.EndReplace();
        SetChunks(ref edit, chunks + 1);
    }

    // The reverse: the last chunk's entries go back to where they were split from.
    private static void Merge(ref RecordEdit edit, EntryForm form, uint last)
    {
        uint number = PartOf(last);
        if (!edit.CanRead(number) || !edit.CanRead(last))
            return;
        Page left = Open(ref edit, number), right = Open(ref edit, last);
        int capacity = Page.CapacityFor(left.Count + right.Count, (long)left.LiveBytes + right.LiveBytes);
        byte* fresh = edit.BeginReplace(number, capacity, out _);
        if (fresh == null)
        {
            edit.OutOfMemory = false;
            return;
        }

        Page both = Page.Clear(fresh, capacity);
        for (int slot = 0; slot < left.Count; slot++)
            both.Take(left.FingerprintAt(slot), left.EntryAt(form, slot), form);
        for (int slot = 0; slot < right.Count; slot++)
            both.Take(right.FingerprintAt(slot), right.EntryAt(form, slot), form);
        edit.EndReplace();
        edit.RemoveChunk(last);
        SetChunks(ref edit, last);
    }
}
