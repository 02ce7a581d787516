using System.Runtime.CompilerServices;
using Garnet.Common.Faults;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Keys in order with values of one size, in pages that are chunks: a directory, in a chunk of its own, says which page follows which,
/// its first key and how many it has. 0-3 pages in use; from 8 on slots: the first key, 4 bytes number of the chunk, 4 bytes number of
/// keys; behind the slots in use stand numbers that were in use once. Keys are of one size too, without gaps between their fields.
/// With force, memory is taken beyond the limit.
/// collections.D1: no page in use is empty.
/// collections.D2: the last page's chunk stays, if it is small, when that goes: what is pending for a group comes and goes one by one.
/// </summary>
public readonly unsafe struct OrderedMap<TKey>(uint directory, uint firstPage, uint step, int valueBytes, bool force = false)
    where TKey : unmanaged, IComparable<TKey>
{
    private const int PageBytes = 2048, HeaderBytes = 8, FirstKeys = 4, KeptKeys = 16;

    /// <summary>Bytes of a key and its value.</summary>
    public int EntryBytes => sizeof(TKey) + valueBytes;

    private static int SlotBytes => sizeof(TKey) + 8;

    private int KeysMax => PageBytes / EntryBytes;

    /// <summary>The first place whose key is not smaller.</summary>
    public MapPlace Seek(ref RecordEdit edit, in TKey key)
    {
        byte* at = edit.Chunk(directory, out _);
        int page = FindPage(at, key);
        if (page < 0)
            return default;
        return new MapPlace { Page = page, Index = FindIn(edit.Chunk(NumberOf(at, page), out _), CountOf(at, page), key) };
    }

    /// <summary>The key at a place and where its value is, to look at; a place behind a page's last key becomes the next page's first. False at the end.</summary>
    public bool TryRead(ref RecordEdit edit, ref MapPlace place, out TKey key, out byte* value)
    {
        key = default;
        value = null;
        byte* at = edit.Chunk(directory, out _);
        if (at == null)
            return false;
        if (place.Page < PagesOf(at) && place.Index >= CountOf(at, place.Page))
            place = new MapPlace { Page = place.Page + 1 };
        if (place.Page >= PagesOf(at))
            return false;
        byte* entry = edit.Chunk(NumberOf(at, place.Page), out _) + (place.Index * (long)EntryBytes);
        key = Unsafe.ReadUnaligned<TKey>(entry);
        value = entry + sizeof(TKey);
        return true;
    }

    /// <summary>The last key that is smaller; false if there is none.</summary>
    public bool TryLastBefore(ref RecordEdit edit, in TKey key, out TKey found)
    {
        found = default;
        MapPlace place = Seek(ref edit, key);
        if (place is { Page: 0, Index: 0 })
            return false;
        byte* at = edit.Chunk(directory, out _);
        if (place.Index == 0)
            place = new MapPlace { Page = place.Page - 1, Index = CountOf(at, place.Page - 1) };
        found = Unsafe.ReadUnaligned<TKey>(edit.Chunk(NumberOf(at, place.Page), out _) + ((place.Index - 1) * (long)EntryBytes));
        return true;
    }

    /// <summary>The value of a key, to look at; null if it is not there.</summary>
    public byte* Find(ref RecordEdit edit, in TKey key)
    {
        MapPlace place = Seek(ref edit, key);
        return TryRead(ref edit, ref place, out TKey found, out byte* value) && found.CompareTo(key) == 0 ? value : null;
    }

    /// <summary>A step will come to where the key is, or would be. False if no more may be told of now.</summary>
    public bool TryForesee(ref RecordEdit edit, in TKey key)
    {
        int page = FindPage(edit.Chunk(directory, out _), key);
        return page < 0 || TryForesee(ref edit, page);
    }

    /// <summary>A step will come to the keys from one to another, or to so many of them. False if no more may be told of now.</summary>
    public bool TryForesee(ref RecordEdit edit, in TKey from, in TKey to, long keys)
    {
        byte* at = edit.Chunk(directory, out _);
        int first = Math.Max(FindPage(at, from), 0);
        for (int page = first; keys > 0 && page < PagesOf(at) && FirstOf(at, page).CompareTo(to) <= 0; page++)
        {
            if (!TryForesee(ref edit, page))
                return false;
            keys -= page == first ? 0 : CountOf(at, page); // most of those may stand before
        }

        return true;
    }

    /// <summary>The value of a key that is there, to be changed.</summary>
    public byte* Open(ref RecordEdit edit, in TKey key)
    {
        MapPlace place = Seek(ref edit, key);
        byte* page = OpenPage(ref edit, place.Page);
        return page + (place.Index * (long)EntryBytes) + sizeof(TKey);
    }

    /// <summary>Puts a key that is not there; where its value goes, null if there is no memory.</summary>
    public byte* TryAdd(ref RecordEdit edit, in TKey key)
    {
        byte* at = edit.Chunk(directory, out _);
        int page = FindPage(at, key);
        if (page < 0)
            return TryAddPage(ref edit, 0, FirstKeys, key) ? Insert(ref edit, 0, 0, key) : null;
        int count = CountOf(at, page), index = FindIn(edit.Chunk(NumberOf(at, page), out int bytes), count, key);
        if (index == count && count >= KeysMax)
            return TryAddPage(ref edit, page + 1, KeysMax, key) ? Insert(ref edit, page + 1, 0, key) : null;
        if (count >= KeysMax)
        {
            if (!TryDivide(ref edit, page))
                return null;
            at = edit.Chunk(directory, out _);
            int kept = CountOf(at, page);
            (page, index) = index <= kept ? (page, index) : (page + 1, index - kept);
            bytes = int.MaxValue; // both halves have room
        }

        if ((count + 1) * (long)EntryBytes > bytes
            && edit.WriteChunk(NumberOf(at, page), Math.Min(count * 2, KeysMax) * EntryBytes, force) == null)
            return null;
        return Insert(ref edit, page, index, key);
    }

    /// <summary>Removes a key; false if it is not there.</summary>
    public bool TryRemove(ref RecordEdit edit, in TKey key)
    {
        MapPlace place = Seek(ref edit, key);
        if (!TryRead(ref edit, ref place, out TKey found, out _) || found.CompareTo(key) != 0)
            return false;
        RemoveAt(ref edit, place, 1);
        return true;
    }

    /// <summary>Removes all keys from one to another.</summary>
    public void RemoveRange(ref RecordEdit edit, in TKey from, in TKey to)
    {
        while (true)
        {
            MapPlace place = Seek(ref edit, from);
            if (!TryRead(ref edit, ref place, out TKey key, out _) || key.CompareTo(to) > 0)
                return;
            byte* at = edit.Chunk(directory, out _);
            int count = CountOf(at, place.Page);
            byte* page = edit.Chunk(NumberOf(at, place.Page), out _);
            int end = FindIn(page, count, to);
            if (end < count && Unsafe.ReadUnaligned<TKey>(page + (end * (long)EntryBytes)).CompareTo(to) == 0)
                end++;
            RemoveAt(ref edit, place, end - place.Index);
        }
    }

    /// <summary>Removes everything.</summary>
    public void Clear(ref RecordEdit edit)
    {
        byte* at = edit.Chunk(directory, out _);
        for (int page = 0; at != null && page < Math.Max(PagesOf(at), 1); page++) // collections.D2
            edit.RemoveChunk(NumberOf(at, page));
        edit.RemoveChunk(directory);
    }

    /// <summary>
    /// True if all pages are there and their keys in order, and the visitor says so too. Raises the limit above all numbers that chunks
    /// of the map have. The bytes come from outside.
    /// </summary>
    public bool IsSound<TVisitor>(ref RecordEdit edit, ref TVisitor visitor, ref uint limit) where TVisitor : struct, IMapVisitor<TKey>
    {
        byte* at = edit.Chunk(directory, out int bytes);
        if (at == null)
            return true;
        limit = Math.Max(limit, PlaceOf(directory) + 1);
        int known = (bytes - HeaderBytes) / SlotBytes;
        if (bytes < HeaderBytes + SlotBytes || (uint)PagesOf(at) > (uint)known)
            return false;
        NumberList.Begin();
        TKey? last = null;
        for (int page = 0; page < known; page++)
        {
            uint number = NumberOf(at, page), index = (number - firstPage) / step;
            if ((number - firstPage) % step != 0 || index >= (uint)known)
                return false;
            NumberList.Add(index);
            byte* entries = page > PagesOf(at) ? null : edit.Chunk(number, out bytes); // collections.D2
            if (entries != null)
                limit = Math.Max(limit, PlaceOf(number) + 1);
            if (page < PagesOf(at) && (entries == null || !IsPage(ref edit, entries, bytes, Slot(at, page), ref last, ref visitor)))
                return false;
        }

        return NumberList.AreDistinct();
    }

    private bool IsPage<TVisitor>(ref RecordEdit edit, byte* entries, int bytes, byte* slot, ref TKey? last, ref TVisitor visitor)
        where TVisitor : struct, IMapVisitor<TKey>
    {
        int count = Unsafe.ReadUnaligned<int>(slot + sizeof(TKey) + 4);
        if (count < 1 || count > KeysMax || count * (long)EntryBytes > bytes
            || Unsafe.ReadUnaligned<TKey>(slot).CompareTo(Unsafe.ReadUnaligned<TKey>(entries)) != 0)
            return false; // collections.D1
        for (int i = 0; i < count; i++, entries += EntryBytes)
        {
            TKey key = Unsafe.ReadUnaligned<TKey>(entries);
            if ((last is { } before && key.CompareTo(before) <= 0) || !visitor.Visit(ref edit, key, entries + sizeof(TKey)))
                return false;
            last = key;
        }

        return true;
    }

    private static uint PlaceOf(uint number) => number & ~(RootLimit.SecondSet | RootLimit.ThirdSet);

    private static int PagesOf(byte* at) => at == null ? 0 : *(int*)at;

    private static byte* Slot(byte* at, int page) => at + HeaderBytes + (page * (long)SlotBytes);

    private static uint NumberOf(byte* at, int page) => Unsafe.ReadUnaligned<uint>(Slot(at, page) + sizeof(TKey));

    private static TKey FirstOf(byte* at, int page) => Unsafe.ReadUnaligned<TKey>(Slot(at, page));

    private static int CountOf(byte* at, int page) => Unsafe.ReadUnaligned<int>(Slot(at, page) + sizeof(TKey) + 4);

    // The last page whose first key is not greater, or the first; -1 if there is none.
    private static int FindPage(byte* at, in TKey key)
    {
        int low = 0, high = PagesOf(at);
        if (high == 0)
            return -1;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (Unsafe.ReadUnaligned<TKey>(Slot(at, middle)).CompareTo(key) > 0)
                high = middle;
            else
                low = middle + 1;
        }

        return Math.Max(low - 1, 0);
    }

    private int FindIn(byte* page, int count, in TKey key)
    {
        int low = 0, high = count;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (Unsafe.ReadUnaligned<TKey>(page + (middle * (long)EntryBytes)).CompareTo(key) < 0)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    // With the one before, which a small one is joined to once keys are removed.
    private bool TryForesee(ref RecordEdit edit, int page)
    {
        byte* at = edit.Chunk(directory, out _);
        return edit.TryForesee(NumberOf(at, page))
            && (page == 0 || CountOf(at, page - 1) >= KeysMax / 2 || edit.TryForesee(NumberOf(at, page - 1), isNeeded: false));
    }

    private byte* OpenPage(ref RecordEdit edit, int page)
    {
        byte* opened = edit.OpenChunk(NumberOf(edit.Chunk(directory, out _), page), out _);
        Check.That(opened != null, "collections.D1 every page of the directory is there");
        return opened;
    }

    private byte* OpenDirectory(ref RecordEdit edit)
    {
        byte* at = edit.OpenChunk(directory, out _);
        Check.That(at != null, "store.E4 a directory can be moved");
        return at;
    }

    private byte* Insert(ref RecordEdit edit, int page, int index, in TKey key)
    {
        byte* at = OpenDirectory(ref edit);
        int count = CountOf(at, page);
        Unsafe.WriteUnaligned(Slot(at, page) + sizeof(TKey) + 4, count + 1);
        if (index == 0)
            Unsafe.WriteUnaligned(Slot(at, page), key);
        byte* entry = OpenPage(ref edit, page) + (index * (long)EntryBytes);
        long tail = (count - index) * (long)EntryBytes;
        Buffer.MemoryCopy(entry, entry + EntryBytes, tail, tail);
        Unsafe.WriteUnaligned(entry, key);
        return entry + sizeof(TKey);
    }

    private void RemoveAt(ref RecordEdit edit, in MapPlace place, int keys)
    {
        byte* at = OpenDirectory(ref edit);
        int count = CountOf(at, place.Page) - keys;
        if (count == 0)
        {
            RemovePage(ref edit, place.Page);
            return;
        }

        byte* page = OpenPage(ref edit, place.Page), from = page + (place.Index * (long)EntryBytes);
        long tail = (count - place.Index) * (long)EntryBytes;
        Buffer.MemoryCopy(from + (keys * (long)EntryBytes), from, tail, tail);
        at = edit.Chunk(directory, out _);
        Unsafe.WriteUnaligned(Slot(at, place.Page) + sizeof(TKey) + 4, count);
        Unsafe.WriteUnaligned(Slot(at, place.Page), Unsafe.ReadUnaligned<TKey>(page));
        if (place.Page > 0 && count + CountOf(at, place.Page - 1) <= KeysMax / 2 && edit.CanRead(NumberOf(at, place.Page - 1)))
            Join(ref edit, place.Page - 1);
    }

    // A page behind that index takes the second half.
    private bool TryDivide(ref RecordEdit edit, int page)
    {
        byte* at = edit.Chunk(directory, out _);
        int count = CountOf(at, page), kept = count / 2;
        TKey first = Unsafe.ReadUnaligned<TKey>(edit.Chunk(NumberOf(at, page), out _) + (kept * (long)EntryBytes));
        if (!TryAddPage(ref edit, page + 1, KeysMax, first))
            return false;
        at = OpenDirectory(ref edit);
        byte* right = OpenPage(ref edit, page + 1), left = edit.Chunk(NumberOf(at, page), out _);
        long moved = (count - kept) * (long)EntryBytes;
        Buffer.MemoryCopy(left + (kept * (long)EntryBytes), right, moved, moved);
        Unsafe.WriteUnaligned(Slot(at, page) + sizeof(TKey) + 4, kept);
        Unsafe.WriteUnaligned(Slot(at, page + 1) + sizeof(TKey) + 4, count - kept);
        return true;
    }

    // The next page's keys go behind those of this one. Without memory for that both stay.
    private void Join(ref RecordEdit edit, int page)
    {
        byte* at = edit.Chunk(directory, out _);
        int left = CountOf(at, page), right = CountOf(at, page + 1);
        if (edit.WriteChunk(NumberOf(at, page), KeysMax * EntryBytes) == null)
        {
            edit.OutOfMemory = false;
            return;
        }

        at = OpenDirectory(ref edit);
        byte* to = edit.Chunk(NumberOf(at, page), out _), from = edit.Chunk(NumberOf(at, page + 1), out _);
        Buffer.MemoryCopy(from, to + (left * (long)EntryBytes), right * (long)EntryBytes, right * (long)EntryBytes);
        Unsafe.WriteUnaligned(Slot(at, page) + sizeof(TKey) + 4, left + right);
        RemovePage(ref edit, page + 1);
    }

    private bool TryAddPage(ref RecordEdit edit, int index, int keys, in TKey first)
    {
        byte* at = edit.Chunk(directory, out int bytes);
        int pages = PagesOf(at), known = at == null ? 0 : (bytes - HeaderBytes) / SlotBytes;
        if (pages == known)
        {
            // Room for more slots, each with a fresh number.
            int more = Math.Max(1, known / 8);
            byte* grown = edit.WriteChunk(directory, HeaderBytes + ((known + more) * SlotBytes), force);
            if (grown == null)
                return false;
            if (known == 0)
                *(long*)grown = 0;
            for (int i = known; i < known + more; i++)
                Unsafe.WriteUnaligned(Slot(grown, i) + sizeof(TKey), firstPage + ((uint)i * step));
        }

        at = edit.Chunk(directory, out _);
        uint number = NumberOf(at, pages);
        if ((edit.Chunk(number, out bytes) == null || bytes < keys * EntryBytes)
            && edit.WriteChunk(number, keys * EntryBytes, force) == null)
            return false;
        edit.RaiseLimit(number);
        at = OpenDirectory(ref edit);
        long tail = (pages - index) * (long)SlotBytes;
        Buffer.MemoryCopy(Slot(at, index), Slot(at, index + 1), tail, tail);
        Unsafe.WriteUnaligned(Slot(at, index), first);
        Unsafe.WriteUnaligned(Slot(at, index) + sizeof(TKey), number);
        Unsafe.WriteUnaligned(Slot(at, index) + sizeof(TKey) + 4, 0);
        *(int*)at = pages + 1;
        return true;
    }

    private void RemovePage(ref RecordEdit edit, int page)
    {
        byte* at = OpenDirectory(ref edit);
        uint number = NumberOf(at, page);
        int pages = PagesOf(at);
        long tail = (pages - page - 1) * (long)SlotBytes;
        Buffer.MemoryCopy(Slot(at, page + 1), Slot(at, page), tail, tail);
        Unsafe.WriteUnaligned(Slot(at, pages - 1) + sizeof(TKey), number);
        *(int*)at = pages - 1;
        edit.Chunk(number, out int bytes);
        if (pages > 1 || bytes > KeptKeys * EntryBytes)
            edit.RemoveChunk(number); // collections.D2
    }
}
