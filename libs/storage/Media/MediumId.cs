using System.Buffers.Binary;
using System.Globalization;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// The id of a medium that is kept, in the names of its files and in what speaks of it: 128 random bits. No UInt128, as whatever touches one, the
/// store included, is compiled at each start although the build holds machine code: how processors pass it is not settled.
/// </summary>
/// <param name="High">The upper half.</param>
/// <param name="Low">The lower half.</param>
public readonly record struct MediumId(ulong High, ulong Low)
{
    /// <summary>Bytes of it in a file, the lower half first, each little-endian.</summary>
    public const int Bytes = 16;

    private const int HalfDigits = 16;

    /// <summary>True for that of no medium, as scratch has it.</summary>
    public bool IsNone => (High | Low) == 0;

    /// <summary>One that nobody has.</summary>
    public static MediumId New()
    {
        MediumId random = Read(Libc.RandomBytes(Bytes));
        return random with { Low = random.Low | 1 };
    }

    /// <summary>Reads the first bytes.</summary>
    public static MediumId Read(ReadOnlySpan<byte> from) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(from[8..]), BinaryPrimitives.ReadUInt64LittleEndian(from));

    /// <summary>Writes the first bytes.</summary>
    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], High);
        BinaryPrimitives.WriteUInt64LittleEndian(to, Low);
    }

    /// <summary>Reads what <see cref="ToString"/> gives.</summary>
    public static bool TryParse(ReadOnlySpan<char> text, out MediumId id)
    {
        id = default;
        if (text.Length != 2 * HalfDigits || !TryHalf(text[..HalfDigits], out ulong high) || !TryHalf(text[HalfDigits..], out ulong low))
            return false;
        id = new MediumId(high, low);
        return true;
    }

    /// <summary>32 hexadecimal digits, the upper half first.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{High:x16}{Low:x16}");

    private static bool TryHalf(ReadOnlySpan<char> text, out ulong half) =>
        ulong.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out half);
}
