using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>Sets a key to a number. Between the announcement of the key and its change others may have a turn.</summary>
internal struct PutNumber : IModify
{
    internal long Number;

    /// <summary>Called on this thread before a change, its partition locked: for who reads without locks.</summary>
    [ThreadStatic]
    internal static Action? Yield;

    public static byte OpId => 200;

    public readonly long EncodedBytesMax => sizeof(long);

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Yield?.Invoke();
        next.ValueBytes = sizeof(long);
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => BinaryPrimitives.WriteInt64LittleEndian(value, Number);

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, Number);
        return sizeof(long);
    }

    public bool TryDecode(ReadOnlySpan<byte> from) => BinaryPrimitives.TryReadInt64LittleEndian(from, out Number);
}

/// <summary>Reads it back.</summary>
internal struct NumberLook : IRead
{
    internal long Number;

    public void Look(in RecordView record) => Number = BinaryPrimitives.ReadInt64LittleEndian(record.ValueSpan);
}
