using System.Globalization;

namespace Garnet.Wire.Tiering;

/// <summary>Figures of a tier by name, as clients see them.</summary>
internal static class TierNumbers
{
    /// <summary>A field of INFO tiering.</summary>
    public static long Tiering(this RespConnection client, string name)
    {
        string info = client.Call("INFO", "tiering").Text;
        int at = info.IndexOf("\n" + name + ":", StringComparison.Ordinal) + name.Length + 2;
        return long.Parse(info[at..info.IndexOf('\r', at)], CultureInfo.InvariantCulture);
    }
}
