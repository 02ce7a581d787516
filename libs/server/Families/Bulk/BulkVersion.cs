using System.Globalization;
using Garnet.Server.Commands;
using Garnet.Types.Strings;

namespace Garnet.Server.Families.Bulk;

/// <summary>
/// The version of a value as the protocol has it: what DIGEST says of it. Two values of one version have the same bytes, but for one
/// chance in 2^64.
/// </summary>
internal static class BulkVersion
{
    internal static bool TryRead(ReadOnlySpan<byte> digits, out ulong version)
    {
        version = 0;
        return digits.Length == ValueDigest.Digits
            && ulong.TryParse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out version);
    }

    /// <summary>Writes it with its name.</summary>
    internal static void Write(ref Call call, ulong version)
    {
        Span<byte> digits = stackalloc byte[ValueDigest.Digits];
        ValueDigest.Print(version, digits);
        call.Out.Bulk("version"u8);
        call.Out.Bulk(digits);
    }
}
