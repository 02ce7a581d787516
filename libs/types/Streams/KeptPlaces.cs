namespace Garnet.Types.Streams;

/// <summary>What a walk backwards keeps of a page, which is read from its front: the last places, and the ids before them. It lies with whoever walks.</summary>
public unsafe struct KeptPlaces
{
    public const int Max = 128;
    public fixed int Places[Max];
    public fixed ulong Before[Max * 2];
}
