using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// The one field of a root's value that is the store's: in bytes 4 to 7 a number that no chunk's number reaches, the bits of its set apart. With it the
/// store removes the chunks of a root that is gone without knowing what they hold. All other bytes are the types'; who lays out a root leaves these
/// to this type.
/// </summary>
public static unsafe class RootLimit
{
    /// <summary>Bit of a second set of chunk numbers; without it a number stays below the limit as well.</summary>
    public const uint SecondSet = 1u << 31;
    /// <summary>Bit of a third set; a root that has chunks of it says so by this bit of its limit, so that others are not looked through for them.</summary>
    public const uint ThirdSet = 1u << 30;
    /// <summary>The bits that tell the sets apart.</summary>
    internal const uint Sets = SecondSet | ThirdSet;
    internal const int ValueBytesMin = Offset + sizeof(uint);
    private const int Offset = 4;

    /// <summary>What the numbers of a root's chunks stay below, the bits of their sets apart.</summary>
    public static uint Of(byte* value) => Field(value) & ~ThirdSet;

    /// <summary>Notes in an open root that a chunk of that number is in use.</summary>
    public static void Raise(byte* value, uint number) => Unsafe.WriteUnaligned(value + Offset, Above(Field(value), number));

    /// <summary>True if the root does not say yet that a chunk of that number is in use.</summary>
    internal static bool IsBelow(byte* value, uint number) => Above(Field(value), number) != Field(value);

    /// <summary>Notes in an open root that no chunk has that number or a higher one.</summary>
    internal static void Lower(byte* value, uint limit) => Unsafe.WriteUnaligned(value + Offset, limit | (Field(value) & ThirdSet));

    /// <summary>How many sets of numbers there are.</summary>
    internal static uint SetsOf(byte* value) => (Field(value) & ThirdSet) != 0 ? 3u : 2u;

    /// <summary>The number of a chunk by its set, counted from 0, and its place there.</summary>
    internal static uint NumberOf(uint set, uint place) => set switch
    {
        0 => place,
        1 => place | SecondSet,
        _ => place | ThirdSet,
    };

    private static uint Field(byte* value) => Unsafe.ReadUnaligned<uint>(value + Offset);

    private static uint Above(uint limit, uint number) =>
        Math.Max(limit & ~ThirdSet, (number & ~Sets) + 1) | ((limit | number) & ThirdSet);
}
