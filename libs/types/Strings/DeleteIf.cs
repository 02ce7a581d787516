using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>Removes a key if its string value meets a condition. Logged without the condition.</summary>
public unsafe struct DeleteIf : IModify
{
    public SetCondition Condition;
    public byte* Operand;
    public int OperandLength;

    public bool Removed;
    public bool WrongKind;

    public static byte OpId => 9;

    public static bool Replaces(ReadOnlySpan<byte> arguments) => true;

    public readonly bool IsBlind => Condition == SetCondition.Always;

    public readonly long EncodedBytesMax => 0;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        if (!existing.Exists)
            return Verdict.Keep;
        WrongKind = Condition != SetCondition.Always && existing.Kind != RecordKind.String;
        if (WrongKind || !ValueCondition.Holds(Condition, existing.ValueSpan, new ReadOnlySpan<byte>(Operand, OperandLength)))
            return Verdict.Keep;
        Removed = true;
        return Verdict.Remove;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
    }

    public readonly int Encode(Span<byte> to) => 0;

    public readonly bool TryDecode(ReadOnlySpan<byte> from) => from.IsEmpty;
}
