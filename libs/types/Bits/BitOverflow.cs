namespace Garnet.Types.Bits;

/// <summary>What happens to a number that does not fit.</summary>
public enum BitOverflow : byte
{
    Wrap,
    Saturate,
    Fail,
}
