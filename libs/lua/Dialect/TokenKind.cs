namespace Garnet.Lua.Dialect;

/// <summary>What a <see cref="Token"/> is.</summary>
internal enum TokenKind : byte
{
    End,
    Name,
    Word,
    Number,
    Text,
    Sign,
}
