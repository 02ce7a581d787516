using System.Globalization;

namespace Garnet.Wire.Tiering;

/// <summary>Figures of a tier by name, as clients see them.</summary>
internal static class TierNumbers
{
    /// <summary>A field of INFO tiering.</summary>
    public static long Tiering(this RespConnection client, string name) => client.Number("tiering", name);

    /// <summary>A field of a section of INFO.</summary>
    public static long Number(this RespConnection client, string section, string name)
    {
        string info = client.Call("INFO", section).Text;
        int at = info.IndexOf("\n" + name + ":", StringComparison.Ordinal) + name.Length + 2;
        return long.Parse(info[at..info.IndexOf('\r', at)], CultureInfo.InvariantCulture);
    }
}
