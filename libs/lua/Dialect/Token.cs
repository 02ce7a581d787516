namespace Garnet.Lua.Dialect;

/// <summary>A word, number, text or sign of Lua source: where it stands and what it is.</summary>
internal readonly record struct Token(TokenKind Kind, int Start, int End);
