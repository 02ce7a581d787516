namespace Garnet.Types.Streams;

/// <summary>Who is to have an entry.</summary>
public readonly record struct ClaimTarget(int Group, int Consumer);
