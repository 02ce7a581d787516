using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Bits;

/// <summary>Steps of BITFIELD of which at least one writes.</summary>
public unsafe struct PutBitFields : IModify
{
    public BitStep* Steps;
    public int Count;
    /// <summary>Where the results go, null for nowhere; a failed step has none.</summary>
    public long?[]? Results;

    public bool WrongKind;

    public static byte OpId => 26;

    public readonly long EncodedBytesMax => (long)Count * BitStep.EncodedBytes;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        WrongKind = existing.Exists && existing.Kind != RecordKind.String;
        if (WrongKind)
            return Verdict.Keep;
        next.ValueBytes = existing.ValueBytes;
        for (int i = 0; i < Count; i++)
        {
            if (Steps[i].Action != BitAction.Get)
                next.ValueBytes = Math.Max(next.ValueBytes, Steps[i].BytesNeeded);
        }

        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        Growing.Begin(existing, value, inPlace);
        for (int i = 0; i < Count; i++)
        {
            bool isDone = Steps[i].TryRun(value, out long result);
            if (Results is not null)
                Results[i] = isDone ? result : null;
        }
    }

    public readonly int Encode(Span<byte> to)
    {
        int bytes = Count * BitStep.EncodedBytes;
        new ReadOnlySpan<byte>(Steps, bytes).CopyTo(to);
        return bytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length == 0 || from.Length % BitStep.EncodedBytes != 0)
            return false;
        Steps = (BitStep*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from));
        Count = from.Length / BitStep.EncodedBytes;
        for (int i = 0; i < Count; i++)
        {
            if (!Steps[i].IsValid)
                return false;
        }

        return true;
    }
}
