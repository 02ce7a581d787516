namespace Garnet.Types.Collections;

/// <summary>Elements of a page between two places, with the number of elements before each.</summary>
public unsafe ref struct PageRange
{
    public byte* Front;
    public byte* Back;
    public int Before;
    public int BeforeBack;
}
