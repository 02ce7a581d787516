using System.Globalization;

namespace Garnet.Bulk;

/// <summary>
/// The name of a region: what its owner tells those who may reach it, by whatever way the two talk. Its key is the right itself; whoever has it
/// may do what the region allows.
/// </summary>
public readonly record struct RemoteRegion(ulong Base, ulong Length, ulong Key)
{
    public RemoteRange All => new(this, 0, Length);

    public RemoteRange Range(ulong offset, ulong length) => new(this, offset, length);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Base:x}:{Length:x}:{Key:x}");

    public static RemoteRegion Parse(string text)
    {
        string[] parts = text.Split(':');
        if (parts.Length != 3)
            throw new FormatException("A region's name is BASE:LENGTH:KEY in hexadecimal digits.");
        return new RemoteRegion(Number(parts[0]), Number(parts[1]), Number(parts[2]));
    }

    private static ulong Number(string digits) => ulong.Parse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture);
}
