namespace Garnet.Aof.Shipping;

/// <summary>The state a reader goes by: the batch behind which it is, and which filling of the store.</summary>
public readonly record struct ReadPoint(ulong Number, uint Store);
