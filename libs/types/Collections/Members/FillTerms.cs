namespace Garnet.Types.Collections;

/// <summary>What holds of all entries that a collection is made of.</summary>
/// <param name="ExpireAtMs">Their expiry, 0 = none.</param>
/// <param name="AreDistinct">No key is there twice, as whoever took them from a collection knows.</param>
/// <param name="AreRaw">Scores stand as they lie, in front of the member in one byte string; else each as a text of its own before it.</param>
public readonly record struct FillTerms(long ExpireAtMs, bool AreDistinct, bool AreRaw = false);
