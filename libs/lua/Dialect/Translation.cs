namespace Garnet.Lua.Dialect;

/// <summary>Source for the compiler.</summary>
/// <param name="Source">Its text.</param>
/// <param name="Wrong">Where it is no Lua 5.1, and how: for a compiler that would take it all the same. Empty if it is.</param>
public readonly record struct Translation(byte[] Source, string Wrong);
