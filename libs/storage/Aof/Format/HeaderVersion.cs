using Tsavorite;

namespace Garnet.Aof.Format;

/// <summary>
/// The version in the header of a file that holds values: there are two forms of file, of each layout of values (<see cref="ValueLayout"/>). 1 and 2
/// are the forms in the first layout, 3 and 4 in the second.
/// </summary>
internal static class HeaderVersion
{
    private const int Forms = 2;

    /// <summary>The greatest that is known here.</summary>
    public const byte Latest = ValueLayout.Current * Forms;

    public static byte Of(byte layout, bool isSecondForm) => (byte)(((layout - 1) * Forms) + (isSecondForm ? 2 : 1));

    public static bool IsKnown(byte version) => version is >= 1 and <= Latest;

    public static bool IsSecondForm(byte version) => version % Forms == 0;

    public static byte LayoutOf(byte version) => (byte)((version + 1) / Forms);
}
