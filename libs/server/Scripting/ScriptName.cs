using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace Garnet.Server.Scripting;

/// <summary>The SHA1 of a script's text.</summary>
internal readonly record struct ScriptName(ulong First, ulong Second, uint Third)
{
    private const int Bytes = 20;

    /// <summary>Digits of its spelling.</summary>
    internal const int Digits = 40;

    /// <summary>The name of a text.</summary>
    [SuppressMessage("Security", "CA5350", Justification = "the protocol names scripts by SHA1; nothing is kept secret by it")]
    internal static ScriptName Of(ReadOnlySpan<byte> source)
    {
        Span<byte> hash = stackalloc byte[Bytes];
        SHA1.HashData(source, hash);
        return From(hash);
    }

    /// <summary>Reads 40 digits, in small letters or capitals.</summary>
    internal static bool TryRead(ReadOnlySpan<byte> digits, out ScriptName name)
    {
        Span<byte> hash = stackalloc byte[Bytes];
        name = default;
        if (digits.Length != Digits || Convert.FromHexString(digits, hash, out _, out _) != System.Buffers.OperationStatus.Done)
            return false;
        name = From(hash);
        return true;
    }

    /// <inheritdoc/>
    public override string ToString()
    {
        Span<byte> hash = stackalloc byte[Bytes];
        MemoryMarshal.Write(hash, First);
        MemoryMarshal.Write(hash[8..], Second);
        MemoryMarshal.Write(hash[16..], Third);
        return Convert.ToHexStringLower(hash);
    }

    private static ScriptName From(ReadOnlySpan<byte> hash) =>
        new(MemoryMarshal.Read<ulong>(hash), MemoryMarshal.Read<ulong>(hash[8..]), MemoryMarshal.Read<uint>(hash[16..]));
}
