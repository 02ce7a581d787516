namespace Garnet.Aof;

/// <summary>A term of a history begins with the batch <paramref name="First"/>; the batch before that one is of term <paramref name="Before"/>.</summary>
public readonly record struct TermStart(uint Term, ulong First, uint Before)
{
    /// <summary>Who began it (<see cref="Format.BatchHeader.Owner"/>); 0 = not known.</summary>
    public uint Owner { get; init; }

    /// <summary>Greatest term that a peer or a file may name: above it there is room for 16,384 promotions, 64 each, before a term could begin anew at 0.</summary>
    public const uint TermMax = uint.MaxValue - (1 << 20);

    /// <summary>So many of the last ones are kept of a history, in memory, in messages and on disk: what began before is not known.</summary>
    public const int KeptMax = 16;
}
