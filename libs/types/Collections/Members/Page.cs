using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Garnet.Types.Collections;

/// <summary>
/// A chunk of a collection's entries, found by fingerprint: 0-3 number of entries, 4-7 end of the entries' bytes, 8-11 bytes among
/// them that are dead, 12 one if offsets are wide; then the entries in no order; free room; and from the end downwards groups of 16
/// slots: 16 fingerprints, 16 offsets (2 bytes each, 4 in pages of 64 KiB and more). Sixteen fingerprints are compared at once, so
/// that about one entry is looked at.
/// collections.P1: slots 0 to count-1 are in use, in any order.
/// collections.P2: an entry's bytes are dead once no slot names them; what is dead is left behind when the page is written anew.
/// </summary>
public unsafe struct Page
{
    public const int HeaderBytes = 16;
    private const int GroupSlots = 16, LookSlots = 64, NarrowBytesMax = 60_000, PrefetchBytesMax = 480;

    private readonly byte* _at;
    private readonly int _bytes;

    public Page(byte* at, int bytes)
    {
        _at = at;
        _bytes = bytes;
    }

    public readonly bool IsNone => _at == null;

    public readonly int Bytes => _bytes;

    public readonly int Count => *(int*)_at;

    /// <summary>Bytes of the entries that are alive.</summary>
    public readonly int LiveBytes => Used - HeaderBytes - DeadBytes;

    public readonly int Used => *(int*)(_at + 4);

    private readonly bool IsWide => _at[12] != 0;

    private readonly int GroupBytes => IsWide ? GroupSlots * 5 : GroupSlots * 3;

    /// <summary>
    /// Bytes of a page with that many entries, an eighth of them free as far as there can be: more than <see cref="Tsavorite.Store.ValueBytesMax"/>
    /// only if the entries need it, and then no such page can be made.
    /// </summary>
    public static int CapacityFor(int entries, long entryBytes)
    {
        long groups = ((long)entries + GroupSlots - 1) / GroupSlots;
        long bytes = HeaderBytes + entryBytes + (groups * GroupSlots * 3);
        if (bytes + (bytes / 8) >= NarrowBytesMax)
            bytes += groups * GroupSlots * 2;
        bytes = (bytes + 7) & ~7L;
        return (int)Math.Min(Math.Max(bytes, Math.Min((bytes + (bytes / 8) + 32 + 7) & ~7L, Tsavorite.Store.ValueBytesMax)), int.MaxValue);
    }

    /// <summary>Makes an empty page of fresh bytes.</summary>
    public static Page Clear(byte* at, int bytes)
    {
        *(int*)at = 0;
        *(int*)(at + 4) = HeaderBytes;
        *(int*)(at + 8) = 0;
        *(int*)(at + 12) = bytes >= NarrowBytesMax ? 1 : 0;
        return new Page(at, bytes);
    }

    /// <summary>True if what the header says can be: the slots and the entries lie in the page, and do not meet.</summary>
    public readonly bool HasSoundHead(int entriesMax)
    {
        if (*(uint*)(_at + 12) > 1 || !IsLike(_bytes) || Count < 0 || Count > entriesMax || Used < HeaderBytes
            || DeadBytes < 0 || LiveBytes < 0)
            return false;
        return Used + ((Count + GroupSlots - 1) / GroupSlots * (long)GroupBytes) <= _bytes;
    }

    /// <summary>The slot of the key, -1 if it is not there.</summary>
    public readonly int Find(EntryForm form, byte fingerprint, byte* key, int keyBytes, out Entry entry)
    {
        int count = Count;
        for (int first = 0; first < count; first += LookSlots)
        {
            for (ulong matches = Matches(first, count - first, fingerprint); matches != 0; matches &= matches - 1)
            {
                int slot = first + BitOperations.TrailingZeroCount(matches);
                byte* at = _at + OffsetOf(slot), end = _at + Used;
                bool isWhole = Entry.Measure(form, at, end, out byte* found, out uint foundBytes, out _) != null;
                if (!isWhole || foundBytes != (uint)keyBytes || !Tsavorite.RecordEdit.SameBytes(found, key, keyBytes))
                    continue; // before its other parts are worked out: of 150 fingerprints every second time another one is the same
                Entry.TryRead(form, at, end, out entry);
                return slot;
            }
        }

        entry = default;
        return -1;
    }

    // A bit for each of up to 64 slots from one on whose fingerprint is that: groups are looked at without a branch between them, which would be guessed wrong at
    // the one that has it (SINTERCARD of 1,000).
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // SINTERCARD of 1,000: once for every member
    private readonly ulong Matches(int first, int left, byte fingerprint)
    {
        int groups = Math.Min((left + GroupSlots - 1) / GroupSlots, LookSlots / GroupSlots), groupBytes = GroupBytes;
        Vector128<byte> wanted = Vector128.Create(fingerprint);
        byte* group = Group(first);
        ulong matches = 0;
        for (int i = 0; i < groups; i++, group -= groupBytes)
            matches |= (ulong)Vector128.Equals(Vector128.Load(group), wanted).ExtractMostSignificantBits() << (i * GroupSlots);
        return left < LookSlots ? matches & ((1UL << left) - 1) : matches;
    }

    /// <summary>Brings the fingerprints towards the cache; false if these bytes cannot be a page of the usual size. A hint: nothing need be true.</summary>
    public readonly bool PrefetchSlots()
    {
        if (!Sse.IsSupported || _bytes is < HeaderBytes or >= NarrowBytesMax || (uint)Count > (uint)_bytes || IsWide)
            return false;
        long groupBytes = Math.Min((Count + GroupSlots - 1) / GroupSlots * (GroupSlots * 3), PrefetchBytesMax);
        for (byte* line = _at + _bytes - groupBytes; line < _at + _bytes; line += 64)
            Sse.Prefetch0(line);
        return groupBytes <= _bytes;
    }

    /// <summary>The same for the entries that have the fingerprint.</summary>
    public readonly void PrefetchEntry(byte fingerprint)
    {
        int count = Math.Min(Count, PrefetchBytesMax / 3);
        for (int first = 0; first < count && (first + GroupSlots) * 3 <= _bytes; first += GroupSlots)
        {
            uint matches = Vector128.Equals(Vector128.Load(Group(first)), Vector128.Create(fingerprint)).ExtractMostSignificantBits();
            for (; matches != 0; matches &= matches - 1)
            {
                byte* entry = _at + OffsetOf(first + BitOperations.TrailingZeroCount(matches));
                Sse.Prefetch0(entry);
                Sse.Prefetch0(entry + 64);
            }
        }
    }

    /// <summary>The entry of a slot in use.</summary>
    public readonly Entry EntryAt(EntryForm form, int slot)
    {
        Entry.TryRead(form, _at + OffsetOf(slot), _at + Used, out Entry entry);
        return entry;
    }

    public readonly byte FingerprintAt(int slot) => Group(slot)[slot % GroupSlots];

    /// <summary>True if one more entry of that many bytes fits.</summary>
    public readonly bool HasRoom(long bytes) => _bytes - Used - ((Count + GroupSlots) / GroupSlots * (long)GroupBytes) >= bytes;

    /// <summary>Adds an entry of that many bytes, which the caller writes; null if there is no room.</summary>
    public readonly byte* TryAdd(byte fingerprint, int bytes)
    {
        if (!HasRoom(bytes))
            return null;
        int count = Count, used = Used;
        Group(count)[count % GroupSlots] = fingerprint;
        SetOffset(count, used);
        *(int*)_at = count + 1;
        *(int*)(_at + 4) = used + bytes;
        return _at + used;
    }

    /// <summary>Forgets the entry of a slot; the last slot takes its place.</summary>
    public readonly void Remove(int slot, int entryBytes)
    {
        int last = Count - 1, offset = OffsetOf(slot);
        if (offset + entryBytes == Used)
            *(int*)(_at + 4) = offset;
        else
            *(int*)(_at + 8) += entryBytes;
        if (slot != last)
        {
            Group(slot)[slot % GroupSlots] = FingerprintAt(last);
            SetOffset(slot, OffsetOf(last));
        }

        *(int*)_at = last;
    }

    /// <summary>Bytes of entries no slot names any more.</summary>
    public readonly int DeadBytes => *(int*)(_at + 8);

    /// <summary>True if a page of that many bytes has slots like these.</summary>
    public readonly bool IsLike(int bytes) => bytes >= NarrowBytesMax == IsWide;

    /// <summary>Copies everything to fresh bytes, more than now, without looking at single entries.</summary>
    public readonly Page CopyTo(byte* to, int bytes)
    {
        Buffer.MemoryCopy(_at, to, bytes, Used);
        int groups = (Count + GroupSlots - 1) / GroupSlots * GroupBytes;
        Buffer.MemoryCopy(_at + _bytes - groups, to + bytes - groups, groups, groups);
        return new Page(to, bytes);
    }

    /// <summary>Adds an entry that lies elsewhere; there is room.</summary>
    public readonly void Take(byte fingerprint, in Entry entry, EntryForm form) =>
        Entry.Write(form, TryAdd(fingerprint, entry.Bytes), entry);

    private readonly byte* Group(int slot) => _at + _bytes - (((slot / GroupSlots) + 1) * (long)GroupBytes);

    public readonly int OffsetOf(int slot)
    {
        byte* offsets = Group(slot) + GroupSlots;
        return IsWide
            ? Unsafe.ReadUnaligned<int>(offsets + (slot % GroupSlots * 4))
            : Unsafe.ReadUnaligned<ushort>(offsets + (slot % GroupSlots * 2));
    }

    private readonly void SetOffset(int slot, int offset)
    {
        byte* offsets = Group(slot) + GroupSlots;
        if (IsWide)
            Unsafe.WriteUnaligned(offsets + (slot % GroupSlots * 4), offset);
        else
            Unsafe.WriteUnaligned(offsets + (slot % GroupSlots * 2), (ushort)offset);
    }
}
