namespace Garnet.Types.Bits;

/// <summary>What a step of BITFIELD does.</summary>
public enum BitAction : byte
{
    Get,
    Set,
    Add,
}
