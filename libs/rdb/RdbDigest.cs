using System.Buffers.Binary;
using System.Security.Cryptography;
using Garnet.Common.Resp;
using Garnet.Rdb.Streams;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// What a value holds as 32 bytes, the same in every encoding and order of members. Not in it is what a replica has otherwise than its primary: when a
/// consumer was last seen, and how many entries a group has read.
/// </summary>
public static unsafe class RdbDigest
{
    /// <summary>Of a payload of DUMP; null if it is none, or of no form that is known.</summary>
    public static byte[]? Of(ReadOnlySpan<byte> payload)
    {
        if (!RdbPayload.TryOpen(payload, out int bytes))
            return null;
        fixed (byte* start = payload)
        {
            var cursor = new RdbCursor(start + 1, start + bytes);
            using var value = new RdbValue();
            byte[]? digest = RdbDecoder.TryRead(ref cursor, (RdbType)(*start), value) ? Of(value) : null;
            cursor.Free();
            return digest;
        }
    }

    private static byte[] Of(RdbValue value)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData([(byte)value.Kind]);
        switch (value.Kind)
        {
            case RecordKind.String:
                hash.AppendData(value.String.Span);
                break;
            case RecordKind.Stream:
                OfStream(hash, value.Stream!);
                break;
            case RecordKind.List:
                for (Operands.Reader item = value.All().Read(); item.Next();)
                    Add(hash, new ReadOnlySpan<byte>(item.Bytes, item.Length));
                break;
            default:
                OfMembers(hash, value);
                break;
        }
        return hash.GetHashAndReset();
    }

    // In the order of their own digests.
    private static void OfMembers(IncrementalHash hash, RdbValue value)
    {
        bool isPairs = value.Kind is RecordKind.Hash or RecordKind.SortedSet;
        using var one = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        var members = new List<byte[]>();
        for (Operands.Reader item = value.All().Read(); item.Next();)
        {
            Add(one, new ReadOnlySpan<byte>(item.Bytes, item.Length));
            if (isPairs && item.Next())
                Add(one, new ReadOnlySpan<byte>(item.Bytes, item.Length));
            Add(one, (ulong)(value.FieldTimes?[members.Count] ?? 0));
            members.Add(one.GetHashAndReset());
        }
        members.Sort(static (left, right) => left.AsSpan().SequenceCompareTo(right));
        foreach (byte[] member in members)
            hash.AppendData(member);
    }

    private static void OfStream(IncrementalHash hash, StreamValue stream)
    {
        Add(hash, stream.Last);
        Add(hash, stream.MaxDeleted);
        Add(hash, (ulong)stream.Added);
        foreach (StreamRun run in stream.Runs)
            OfRun(hash, stream, run);
        foreach (StreamGroupValue group in stream.Groups.OrderBy(static group => Convert.ToHexString(group.Name), StringComparer.Ordinal))
        {
            Add(hash, group.Name);
            Add(hash, group.Last);
            foreach (StreamConsumerValue consumer in group.Consumers.OrderBy(
                static one => Convert.ToHexString(one.Name), StringComparer.Ordinal))
            {
                Add(hash, consumer.Name);
                OfPending(hash, consumer.Pending);
            }
            OfPending(hash, group.Released);
        }
    }

    private static void OfPending(IncrementalHash hash, List<PendingPiece> pending)
    {
        Add(hash, (ulong)pending.Count);
        foreach (PendingPiece piece in pending)
        {
            Add(hash, piece.Id);
            Add(hash, (ulong)piece.DeliveredMs);
            Add(hash, (ulong)piece.Deliveries);
        }
    }

    // Each entry with the names it has; which entries lie together is a matter of encoding.
    private static void OfRun(IncrementalHash hash, StreamValue stream, StreamRun run)
    {
        byte* at = stream.Head + run.Entries, end = stream.Head + run.End;
        while (at < end)
        {
            hash.AppendData(new ReadOnlySpan<byte>(at, sizeof(StreamId)));
            at += sizeof(StreamId);
            byte* name = stream.Head + run.Names, namesEnd = stream.Head + run.Entries;
            while (name < namesEnd && VarInt.TryRead(ref name, namesEnd, out uint nameBytes))
            {
                Add(hash, new ReadOnlySpan<byte>(name, (int)nameBytes));
                name += nameBytes;
                if (!VarInt.TryRead(ref at, end, out uint bytes))
                    return;
                Add(hash, new ReadOnlySpan<byte>(at, (int)bytes));
                at += bytes;
            }
        }
    }

    private static void Add(IncrementalHash to, ReadOnlySpan<byte> text)
    {
        Add(to, (ulong)text.Length);
        to.AppendData(text);
    }

    private static void Add(IncrementalHash to, StreamId id)
    {
        Add(to, id.Ms);
        Add(to, id.Seq);
    }

    private static void Add(IncrementalHash to, ulong number)
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, number);
        to.AppendData(bytes);
    }
}
