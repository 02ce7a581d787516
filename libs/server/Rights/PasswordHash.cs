using System.Security.Cryptography;

namespace Garnet.Server.Rights;

/// <summary>Passwords as SHA-256, written as 64 small hexadecimal digits.</summary>
internal static class PasswordHash
{
    internal const int Bytes = SHA256.HashSizeInBytes;

    /// <summary>The hash of a password.</summary>
    internal static string Of(ReadOnlySpan<byte> password) => Convert.ToHexStringLower(SHA256.HashData(password));

    /// <summary>True if the text can be a hash.</summary>
    internal static bool IsHash(string text) =>
        text.Length == Bytes * 2 && text.All(static one => char.IsAsciiDigit(one) || one is >= 'a' and <= 'f');
}
