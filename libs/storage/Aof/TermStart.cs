namespace Garnet.Aof;

/// <summary>A term of a history begins with the batch <paramref name="First"/>; the batch before that one is of term <paramref name="Before"/>.</summary>
public readonly record struct TermStart(uint Term, ulong First, uint Before);
