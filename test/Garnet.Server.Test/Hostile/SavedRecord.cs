using System.Buffers.Binary;
using System.Numerics;
using System.Text;
using Tsavorite;

namespace Garnet.Server.Test.Hostile;

/// <summary>A record of a snapshot's block (website/docs/format/snapshot.md), apart from the others so that its value can be changed.</summary>
internal sealed record SavedRecord(byte[] Bytes, int ValueAt)
{
    private const int HeaderBytes = 12, FieldBytes = 8, ChunkHeadBytes = 12, FieldFlags = 11;

    internal RecordKind Kind => (RecordKind)Bytes[6];

    /// <summary>The key of the value that the record is a part of.</summary>
    internal string Root => Encoding.Latin1.GetString(Bytes[(ValueAt - KeyBytes + (Kind == RecordKind.Chunk ? ChunkHeadBytes : 0))..ValueAt]);

    /// <summary>Of a chunk, its number.</summary>
    internal uint Number => BinaryPrimitives.ReadUInt32LittleEndian(Bytes.AsSpan(ValueAt - KeyBytes + 8));

    private int KeyBytes => BinaryPrimitives.ReadUInt16LittleEndian(Bytes.AsSpan(4));

    /// <summary>The same with another value of that length.</summary>
    internal SavedRecord With(ReadOnlySpan<byte> value)
    {
        byte[] bytes = [.. Bytes[..ValueAt], .. value];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, value.Length);
        return new SavedRecord(bytes, ValueAt);
    }

    internal byte[] Value => Bytes[ValueAt..];

    /// <summary>All of a store.</summary>
    internal static List<SavedRecord> Of(Store store)
    {
        var sink = new Sink();
        using StoreSnapshot snapshot = store.BeginSnapshot();
        while (snapshot.Step(sink))
        {
        }

        Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Whole));
        return sink.Records;
    }

    private sealed class Sink : ISnapshotSink
    {
        public List<SavedRecord> Records { get; } = [];

        public void Write(ReadOnlySpan<byte> block, int records)
        {
            while (!block.IsEmpty)
            {
                int valueBytes = BinaryPrimitives.ReadInt32LittleEndian(block), keyBytes = BinaryPrimitives.ReadUInt16LittleEndian(block[4..]);
                int valueAt = HeaderBytes + (BitOperations.PopCount((uint)block[7] & FieldFlags) * FieldBytes) + keyBytes;
                Records.Add(new SavedRecord(block[..(valueAt + valueBytes)].ToArray(), valueAt));
                block = block[(valueAt + valueBytes)..];
            }
        }
    }
}
