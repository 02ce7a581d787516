using System.Buffers.Binary;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Streams;

namespace Garnet.Rdb.Streams;

/// <summary>
/// Reads a stream from bytes that nobody vouches for. Sound is: ids ascend, no entry without fields, as many entries as are said to be
/// there, and what is pending in a group is pending for one of its consumers.
/// </summary>
internal unsafe struct StreamDecoder(RdbType type, StreamValue to)
{
    private const int IdBytes = 16, PendingBytesMin = IdBytes + 9, GroupBytesMin = 5;
    private const int Deleted = 1, SameNames = 2;
    // Names stand once for many entries; values that are so short beside them are no data any more.
    private const long ExpansionMax = 64, ExpansionAlways = 16 << 20;

    private readonly List<byte[]> _names = [];
    private StreamId _before;
    private long _entries, _read, _expanded, _nameBytes;

    internal bool TryRead(ref RdbCursor from)
    {
        if (!from.TryCount(2, out long nodes))
            return false;
        for (; nodes > 0; nodes--)
        {
            if (!TryNode(ref from))
                return false;
        }

        return TryHeader(ref from) && TryGroups(ref from);
    }

    private bool TryHeader(ref RdbCursor from)
    {
        if (!from.TryLength(out ulong length) || length != (ulong)_entries || !TryPair(ref from, out StreamId last) || last < _before)
            return false;
        to.Last = last;
        to.Added = _entries;
        if (type == RdbType.Stream)
            return true;
        if (!TryPair(ref from, out _) || !TryPair(ref from, out StreamId maxDeleted) || maxDeleted > last)
            return false;
        to.MaxDeleted = maxDeleted;
        bool sound = from.TryLength(out ulong added) && added >= length && added <= long.MaxValue;
        to.Added = (long)added;
        return sound;
    }

    private bool TryNode(ref RdbCursor from)
    {
        if (!from.TryString(out Arg key) || key.Length != IdBytes)
            return false;
        StreamId first = IdAt(key.Bytes);
        var pack = default(ListPack);
        if (!from.TryString(out Arg blob) || !pack.TryOpen(blob.Bytes, blob.Length))
            return false;
        _read += blob.Length;
        if (!TryNumber(ref pack, out long live) || !TryNumber(ref pack, out long deleted) || live < 0 || deleted < 0 || !TryNames(ref pack))
            return false;
        bool inRun = false;
        while (pack.Next(out Arg flags))
        {
            if (!NumberText.TryInt64(flags.Span, out long bits) || bits is < 0 or > (Deleted | SameNames)
                || !TryEntry(ref pack, first, (int)bits, ref inRun))
                return false;
            if ((bits & Deleted) != 0)
                deleted--;
            else
                live--;
        }

        return pack.IsSound && live == 0 && deleted == 0;
    }

    private bool TryNames(ref ListPack pack)
    {
        _names.Clear();
        _nameBytes = 0;
        if (!TryNumber(ref pack, out long names) || names < 0)
            return false;
        for (; names > 0; names--)
        {
            if (!pack.Next(out Arg name))
                return false;
            _names.Add(name.Span.ToArray());
            _nameBytes += name.Length;
        }

        return TryNumber(ref pack, out long end) && end == 0;
    }

    private bool TryEntry(ref ListPack pack, StreamId first, int flags, ref bool inRun)
    {
        if (!TryNumber(ref pack, out long ms) || !TryNumber(ref pack, out long seq))
            return false;
        var id = new StreamId(first.Ms + (ulong)ms, first.Seq + (ulong)seq);
        if (id <= _before)
            return false;
        _before = id;
        bool isLive = (flags & Deleted) == 0, same = (flags & SameNames) != 0;
        long fields = _names.Count;
        if ((!same && !TryNumber(ref pack, out fields)) || fields < 1)
            return false;
        bool sound = same ? TryValues(ref pack, id, isLive, ref inRun) : TryPairs(ref pack, id, isLive, fields);
        inRun &= same;
        _entries += isLive ? 1 : 0;
        return sound && TryNumber(ref pack, out long behind) && behind == fields + (same ? 3 : fields + 4);
    }

    private bool TryValues(ref ListPack pack, StreamId id, bool isLive, ref bool inRun)
    {
        _expanded += _nameBytes;
        if (_expanded > (_read * ExpansionMax) + ExpansionAlways)
            return false;
        if (isLive && !inRun)
            to.BeginRun(_names);
        inRun |= isLive;
        if (isLive)
            to.AddEntry(id);
        foreach (byte[] _ in _names)
        {
            if (!pack.Next(out Arg value))
                return false;
            if (isLive)
                to.AddValue(value);
        }

        return true;
    }

    // An entry with names of its own is a run of its own.
    private readonly bool TryPairs(ref ListPack pack, StreamId id, bool isLive, long fields)
    {
        var names = new List<byte[]>();
        var values = new List<byte[]>();
        for (; fields > 0; fields--)
        {
            if (!pack.Next(out Arg name))
                return false;
            names.Add(name.Span.ToArray());
            if (!pack.Next(out Arg value))
                return false;
            values.Add(value.Span.ToArray());
        }

        if (!isLive)
            return true;
        to.BeginRun(names);
        to.AddEntry(id);
        foreach (byte[] value in values)
        {
            fixed (byte* bytes = value)
                to.AddValue(new Arg { Bytes = bytes, Length = value.Length });
        }

        return true;
    }

    private readonly bool TryGroups(ref RdbCursor from)
    {
        if (!from.TryCount(GroupBytesMin, out long groups))
            return false;
        var names = new HashSet<string>();
        for (; groups > 0; groups--)
        {
            if (!from.TryString(out Arg name) || !names.Add(TextOf(name)))
                return false;
            byte[] text = name.Span.ToArray();
            if (!TryPair(ref from, out StreamId last) || !TryGroup(ref from, new StreamGroupValue(text, last)))
                return false;
        }

        return true;
    }

    private readonly bool TryGroup(ref RdbCursor from, StreamGroupValue group)
    {
        to.Groups.Add(group);
        if (type != RdbType.Stream)
        {
            if (!from.TryLength(out ulong read) || (long)read < GroupState.Unknown)
                return false;
            group.Read = (long)read;
        }

        if (!from.TryCount(PendingBytesMin, out long count))
            return false;
        var pending = new Dictionary<StreamId, PendingPiece>();
        for (StreamId before = default; count > 0; count--)
        {
            if (!TryId(ref from, out StreamId id) || id <= before || !from.TryInt64(out long delivered) || delivered < 0
                || !from.TryLength(out ulong deliveries) || deliveries > long.MaxValue)
                return false;
            pending.Add(before = id, new PendingPiece(id, delivered, (long)deliveries));
        }

        return TryConsumers(ref from, group, pending) && pending.Count == 0;
    }

    // Takes what is pending for each out of what is pending in the group.
    private readonly bool TryConsumers(ref RdbCursor from, StreamGroupValue group, Dictionary<StreamId, PendingPiece> pending)
    {
        if (!from.TryCount(1 + sizeof(long) + 1, out long consumers))
            return false;
        var names = new HashSet<string>();
        for (; consumers > 0; consumers--)
        {
            if (!from.TryString(out Arg name) || !names.Add(TextOf(name)))
                return false;
            byte[] text = name.Span.ToArray();
            if (!from.TryInt64(out long seen) || seen < 0)
                return false;
            long active = seen;
            if (type == RdbType.Stream3 && (!from.TryInt64(out active) || active < -1))
                return false;
            var consumer = new StreamConsumerValue(text, seen, active, []);
            if (!from.TryCount(IdBytes, out long count))
                return false;
            for (StreamId before = default; count > 0; count--)
            {
                if (!TryId(ref from, out StreamId id) || id <= before || !pending.Remove(id, out PendingPiece piece))
                    return false;
                (StreamEncoder.IsReleased(text, piece) ? group.Released : consumer.Pending).Add(piece);
                before = id;
            }

            if (consumer.Pending.Count > 0 || group.Released.Count == 0 || text.Length > 0)
                group.Consumers.Add(consumer);
        }

        return true;
    }

    private static string TextOf(Arg name) => System.Text.Encoding.Latin1.GetString(name.Span);

    private static bool TryNumber(ref ListPack pack, out long value)
    {
        value = 0;
        return pack.Next(out Arg text) && NumberText.TryInt64(text.Span, out value);
    }

    private static bool TryPair(ref RdbCursor from, out StreamId id)
    {
        bool sound = from.TryLength(out ulong ms) & from.TryLength(out ulong seq);
        id = new StreamId(ms, seq);
        return sound;
    }

    private static bool TryId(ref RdbCursor from, out StreamId id)
    {
        bool sound = from.TryBytes(IdBytes, out byte* bytes);
        id = sound ? IdAt(bytes) : default;
        return sound;
    }

    private static StreamId IdAt(byte* bytes) =>
        new(BinaryPrimitives.ReadUInt64BigEndian(new ReadOnlySpan<byte>(bytes, 8)),
            BinaryPrimitives.ReadUInt64BigEndian(new ReadOnlySpan<byte>(bytes + 8, 8)));
}
