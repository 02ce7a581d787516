using System.Runtime.CompilerServices;
using Garnet.Types.Collections;

namespace Garnet.Types.Streams;

/// <summary>
/// Entries of a stream in one chunk: 0-1 entries ever written, 2-3 those that are there, 4-7 end of what is in use, 8-23 id of the last
/// entry ever written, 24-27 first byte of the entries; then the first entry's number of fields, the first bytes of its values, and its
/// names (length and bytes), each with the value (<see cref="StreamText"/>). Then the entries, each relative to the one before: a byte (1
/// deleted, 2 has names of its own, 4 and 8 how the id follows, the rest a small distance), what is missing of the id, and values only, or
/// number of fields, names and values. Two to eight values only are led by a byte with a bit for each that lacks its first byte, which
/// is that of the first entry's value: most often they are of one kind and length.
/// </summary>
public readonly unsafe struct StreamPage(byte* at, int bytes)
{
    public const int HeaderBytes = 28, EntriesMax = ushort.MaxValue;
    private const byte Deleted = 1, OwnNames = 2, IdKind = 12;
    private const int NextSeq = 0, NearMs = 4, FarMs = 8, AnyId = 12, NearMax = 16, HeadBytesMax = 32, MaskedMin = 2, MaskedMax = 8;

    public byte* At => at;

    public int Bytes => bytes;

    public int Slots => Unsafe.ReadUnaligned<ushort>(at);

    public int Live => Unsafe.ReadUnaligned<ushort>(at + 2);

    public int Used => Unsafe.ReadUnaligned<int>(at + 4);

    public StreamId Last => Unsafe.ReadUnaligned<StreamId>(at + 8);

    private int FirstOffset => Unsafe.ReadUnaligned<int>(at + 24);

    /// <summary>Bytes that an entry with these fields takes at most, with its names or without.</summary>
    public static long BytesMax(in Operands fields, bool withNames)
    {
        long bytes = HeadBytesMax + StreamText.Slack;
        for (Operands.Reader reader = fields.Read(); reader.Next();)
        {
            if (withNames)
                bytes += StreamText.BytesMax(reader.Length);
            reader.Next();
            bytes += StreamText.BytesMax(reader.Length);
        }

        return bytes;
    }

    /// <summary>Bytes that a page with these fields as its first entry takes at most.</summary>
    public static long FirstBytesMax(in Operands fields) => HeaderBytes + (2 * BytesMax(fields, withNames: true)) + fields.Count;

    /// <summary>Makes a page of fresh bytes, its first entry to be these fields.</summary>
    public static StreamPage Begin(byte* at, int bytes, StreamId first, in Operands fields)
    {
        Unsafe.WriteUnaligned(at, 0);
        Unsafe.WriteUnaligned(at + 8, first);
        byte* head = VarInt.Write(at + HeaderBytes, (uint)fields.Count / 2), end = head + (fields.Count / 2);
        for (Operands.Reader reader = fields.Read(); reader.Next(); head++)
        {
            end = VarInt.Write(end, (uint)reader.Length);
            reader.Span.CopyTo(new Span<byte>(end, reader.Length));
            byte* value = end + reader.Length;
            reader.Next();
            end = StreamText.Write(value, reader.Span);
            *head = *value;
        }

        Unsafe.WriteUnaligned(at + 4, (int)(end - at));
        Unsafe.WriteUnaligned(at + 24, (int)(end - at));
        return new StreamPage(at, bytes);
    }

    /// <summary>Writes an entry behind the last one; there is room, the id is greater, or the first one, and it is known whose names it has.</summary>
    public void Append(StreamId id, in Operands fields, bool sameNames)
    {
        byte* head = at + Used;
        byte* to = WriteId(head, Last, id);
        to = sameNames ? WriteValues(to, fields) : WriteAll(head, to, fields);
        Unsafe.WriteUnaligned(at, (ushort)(Slots + 1));
        Unsafe.WriteUnaligned(at + 2, (ushort)(Live + 1));
        Unsafe.WriteUnaligned(at + 4, (int)(to - at));
        Unsafe.WriteUnaligned(at + 8, id);
    }

    /// <summary>A place before the first entry.</summary>
    public StreamEntry Before(StreamId first) => new() { Id = first, Next = at + FirstOffset };

    /// <summary>Goes to the next entry, there or deleted; false at the end.</summary>
    public bool Step(ref StreamEntry entry)
    {
        byte* from = entry.Next;
        if (from >= at + Used)
            return false;
        entry.Head = from;
        byte head = *from++;
        from = ReadId(from, head, ref entry.Id);
        entry.HasOwnNames = (head & OwnNames) != 0;
        entry.Next = entry.HasOwnNames ? StepOverAll(from, ref entry) : StepOverValues(from, ref entry);
        return true;
    }

    /// <summary>
    /// True if these bytes are a page whose first entry has that id: names and entries lie one behind the other up to the end of what is in
    /// use, ids rise, and as many are there as is said (streams.S1). The bytes come from outside.
    /// </summary>
    public bool IsSound(StreamId first)
    {
        if (bytes < HeaderBytes || Used < HeaderBytes || Used > bytes || FirstOffset < HeaderBytes || FirstOffset > Used || Live == 0)
            return false;
        byte* end = at + Used, next = at + HeaderBytes;
        if (!TrySkipFirst(ref next, at + FirstOffset, out uint fields, out byte* heads) || next != at + FirstOffset)
            return false;
        StreamId id = first;
        int slots = 0, live = 0;
        for (; next < end; slots++)
        {
            byte head = *next++;
            StreamId before = id;
            if (!TryReadId(ref next, end, head, ref id) || (slots == 0 ? id != first : id <= before))
                return false;
            if ((head & OwnNames) != 0 ? !TrySkipAll(ref next, end) : !TrySkipValues(ref next, end, fields, heads))
                return false;
            live += (head & Deleted) == 0 ? 1 : 0;
        }

        return slots == Slots && live == Live && id == Last;
    }

    // Number of fields, the first bytes of the values, names with values.
    private static bool TrySkipFirst(ref byte* next, byte* end, out uint fields, out byte* heads)
    {
        bool isWhole = VarInt.TryRead(ref next, end, out fields) && fields <= end - next;
        heads = next;
        next += isWhole ? fields : 0;
        for (uint i = 0; i < fields && isWhole; i++)
        {
            isWhole = VarInt.TryRead(ref next, end, out uint length) && length < end - next;
            next += isWhole ? length : 0;
            isWhole = isWhole && *next == heads[i] && StreamText.TrySkip(*next++, ref next, end);
        }

        return isWhole;
    }

    private static bool TryReadId(ref byte* next, byte* end, byte head, ref StreamId id)
    {
        byte* from = next;
        if ((head & IdKind) >= FarMs
            && (!VarInt.TryReadLong(ref from, end, out _) || ((head & IdKind) == AnyId && !VarInt.TryReadLong(ref from, end, out _))))
            return false;
        next = ReadId(next, head, ref id);
        return true;
    }

    private static bool TrySkipAll(ref byte* next, byte* end)
    {
        if (!VarInt.TryRead(ref next, end, out uint fields) || fields > (end - next) / 2)
            return false;
        for (uint texts = fields * 2; texts > 0; texts--)
        {
            if (next >= end || !StreamText.TrySkip(*next++, ref next, end))
                return false;
        }

        return true;
    }

    // A value that lacks its first byte has one that says all of its length.
    private static bool TrySkipValues(ref byte* next, byte* end, uint fields, byte* heads)
    {
        bool isMasked = IsMasked(fields);
        if (isMasked && next >= end)
            return false;
        uint mask = isMasked ? *next++ : 0u;
        for (uint i = 0; i < fields; i++, mask >>= 1)
        {
            bool lacks = (mask & 1) != 0;
            if (lacks ? !StreamText.IsWhole(heads[i]) : next >= end)
                return false;
            byte head = lacks ? heads[i] : *next++;
            if (!(head == StreamText.Same && !lacks) && !StreamText.TrySkip(head, ref next, end))
                return false;
        }

        return true;
    }

    private byte* StepOverValues(byte* from, ref StreamEntry entry)
    {
        uint fields = Fields(out byte* heads);
        entry.Mask = IsMasked(fields) ? *from++ : (byte)0;
        entry.Fields = (int)fields;
        entry.Values = from;
        uint mask = entry.Mask;
        for (uint i = 0; i < fields; i++, mask >>= 1)
            from = (mask & 1) != 0 ? StreamText.Skip(heads[i], from) : StreamText.Skip(from);
        return from;
    }

    private static byte* StepOverAll(byte* from, ref StreamEntry entry)
    {
        VarInt.TryRead(ref from, (byte*)nuint.MaxValue, out uint fields);
        entry.Fields = (int)fields;
        entry.Values = from;
        for (uint texts = fields * 2; texts > 0; texts--)
            from = StreamText.Skip(from);
        return from;
    }

    /// <summary>True if the entry is there.</summary>
    public static bool IsLive(in StreamEntry entry) => (*entry.Head & Deleted) == 0;

    /// <summary>Marks an entry of this page, which may be changed, as deleted.</summary>
    public void Delete(int offset)
    {
        at[offset] |= Deleted;
        Unsafe.WriteUnaligned(at + 2, (ushort)(Live - 1));
    }

    /// <summary>Number of the first entry's fields, and the first bytes of their values; names and values follow those.</summary>
    public uint Fields(out byte* heads)
    {
        heads = at + HeaderBytes;
        VarInt.TryRead(ref heads, (byte*)nuint.MaxValue, out uint count);
        return count;
    }

    private static bool IsMasked(uint fields) => fields is >= MaskedMin and <= MaskedMax;

    /// <summary>True if the fields have the names of the page's first entry.</summary>
    public bool HasNamesOf(in Operands fields)
    {
        uint count = Fields(out byte* heads);
        if (count != (uint)fields.Count / 2)
            return false;
        byte* name = heads + count;
        for (Operands.Reader reader = fields.Read(); reader.Next(); reader.Next())
        {
            VarInt.TryRead(ref name, (byte*)nuint.MaxValue, out uint length);
            if (length != (uint)reader.Length || !reader.Span.SequenceEqual(new ReadOnlySpan<byte>(name, (int)length)))
                return false;
            name = StreamText.Skip(name + length);
        }

        return true;
    }

    private byte* WriteValues(byte* to, in Operands fields)
    {
        uint count = Fields(out byte* heads), bit = 1;
        bool masked = IsMasked(count);
        byte* mask = to, first = heads + count;
        if (masked)
            *to++ = 0;
        for (Operands.Reader reader = fields.Read(); reader.Next(); bit <<= 1, heads++)
        {
            VarInt.TryRead(ref first, (byte*)nuint.MaxValue, out uint length);
            first += length;
            byte* behind = StreamText.Skip(first);
            reader.Next();
            byte* end = StreamText.Write(to, reader.Span);
            int bytes = (int)(end - to);
            if (bytes > 1 && new ReadOnlySpan<byte>(to, bytes).SequenceEqual(new ReadOnlySpan<byte>(first, (int)(behind - first))))
            {
                *to = StreamText.Same;
                end = to + 1;
            }
            else if (masked && *to == *heads && StreamText.IsWhole(*to))
            {
                Buffer.MemoryCopy(to + 1, to, bytes - 1, bytes - 1);
                *mask |= (byte)bit;
                end--;
            }

            to = end;
            first = behind;
        }

        return to;
    }

    private static byte* WriteAll(byte* head, byte* to, in Operands fields)
    {
        *head |= OwnNames;
        to = VarInt.Write(to, (uint)fields.Count / 2);
        for (Operands.Reader reader = fields.Read(); reader.Next();)
            to = StreamText.Write(to, reader.Span);
        return to;
    }

    private static byte* WriteId(byte* head, StreamId before, StreamId id)
    {
        ulong distance = id.Ms - before.Ms;
        if (distance == 0 && id.Seq == before.Seq + 1)
        {
            *head = NextSeq;
            return head + 1;
        }

        if (distance is > 0 and <= NearMax && id.Seq == 0)
        {
            *head = (byte)(NearMs | ((distance - 1) << 4));
            return head + 1;
        }

        bool isFar = distance > 0 && id.Seq == 0;
        *head = (byte)(isFar ? FarMs : AnyId);
        byte* to = VarInt.WriteLong(head + 1, distance);
        return isFar ? to : VarInt.WriteLong(to, distance == 0 ? id.Seq - before.Seq : id.Seq);
    }

    private static byte* ReadId(byte* from, byte head, ref StreamId id)
    {
        int kind = head & IdKind;
        if (kind == NextSeq)
        {
            id = new StreamId(id.Ms, id.Seq + 1);
            return from;
        }

        if (kind == NearMs)
        {
            id = new StreamId(id.Ms + (ulong)(head >> 4) + 1, 0);
            return from;
        }

        ulong distance = VarInt.ReadLong(ref from), seq = kind == FarMs ? 0 : VarInt.ReadLong(ref from);
        id = new StreamId(id.Ms + distance, distance == 0 ? id.Seq + seq : seq);
        return from;
    }
}
