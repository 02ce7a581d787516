using System.Runtime.CompilerServices;

namespace Garnet.Common.Bytes;

/// <summary>
/// A name of at most 24 ASCII bytes folded to upper case and packed into three words, so that two names are compared in
/// three instructions. Folding touches the letters a to z only: no other two byte strings become equal.
/// </summary>
public readonly struct CommandName : IEquatable<CommandName>
{
    /// <summary>Longest name in bytes.</summary>
    public const int BytesMax = 24;

    private readonly ulong _first;
    private readonly ulong _second;
    private readonly ulong _third;

    private CommandName(ulong first, ulong second, ulong third)
    {
        _first = first;
        _second = second;
        _third = third;
    }

    /// <summary>A well-mixed hash of the name.</summary>
    public uint Hash
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)] // ParserBenchmark: on the path of every command
        get => (uint)(((_first ^ (_second * 0x9E3779B97F4A7C15) ^ (_third * 0xC2B2AE3D27D4EB4F)) * 0xFF51AFD7ED558CCD) >> 40);
    }

    /// <summary>Packs the bytes; false if there are none or too many.</summary>
    public static bool TryPack(ReadOnlySpan<byte> text, out CommandName name)
    {
        name = default;
        if (text.Length is 0 or > BytesMax)
            return false;
        name = new CommandName(Word(text, 0), Word(text, 8), Word(text, 16));
        return true;
    }

    /// <summary>Packs at most eight bytes, given as a little-endian word with zeros behind the name.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // ParserBenchmark: on the path of every command
    public static CommandName FromWord(ulong word) => new(Fold(word), 0, 0);

    /// <inheritdoc/>
    public bool Equals(CommandName other) => _first == other._first && _second == other._second && _third == other._third;

    /// <summary>Same name.</summary>
    public static bool operator ==(CommandName left, CommandName right) => left.Equals(right);

    /// <summary>Different name.</summary>
    public static bool operator !=(CommandName left, CommandName right) => !left.Equals(right);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is CommandName other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => (int)Hash;

    private static ulong Word(ReadOnlySpan<byte> text, int from)
    {
        ulong word = 0;
        for (int i = 0; i < 8 && from + i < text.Length; i++)
            word |= (ulong)text[from + i] << (8 * i);
        return Fold(word);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Fold(ulong word)
    {
        const ulong High = 0x8080808080808080, Low = 0x7F7F7F7F7F7F7F7F, Ones = 0x0101010101010101;
        ulong seven = word & Low;
        ulong fromA = seven + ((0x80 - 'a') * Ones);
        ulong beyondZ = seven + ((0x80 - 'z' - 1) * Ones);
        ulong isLower = fromA & ~beyondZ & ~word & High;
        return word ^ (isLower >> 2);
    }
}
