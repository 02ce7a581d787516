namespace Garnet.Types.Strings;

/// <summary>The conditions on a present value.</summary>
public static class ValueCondition
{
    public static bool Holds(SetCondition condition, ReadOnlySpan<byte> value, ReadOnlySpan<byte> operand) => condition switch
    {
        SetCondition.IfEqual => value.SequenceEqual(operand),
        SetCondition.IfNotEqual => !value.SequenceEqual(operand),
        SetCondition.IfDigestEqual => ValueDigest.Equals(value, operand),
        SetCondition.IfDigestNotEqual => !ValueDigest.Equals(value, operand),
        _ => true,
    };
}
