namespace Garnet.Types.Collections;

/// <summary>What became of the entries that a collection was made of.</summary>
/// <param name="Added">Different keys.</param>
/// <param name="Rescored">Scores that differed from the one that the same member had just been given.</param>
public readonly record struct FillCounts(int Added, int Rescored);
