using System.Globalization;
using System.Text;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Geo;

namespace Garnet.Server.Families.Geo;

/// <summary>Numbers of the geo commands as Redis 7.0 writes and reads them.</summary>
internal static class GeoText
{
    private const string Letters = "0123456789bcdefghjkmnpqrstuvwxyz";
    private const int HashLetters = 11, LetterBits = 5, HashBits = 52;

    /// <summary>A coordinate with all its digits, up to 17 behind the point.</summary>
    internal static void Coordinate(RespWriter to, double value)
    {
        string text = value.ToString("F17", CultureInfo.InvariantCulture).TrimEnd('0').TrimEnd('.');
        byte[] digits = Encoding.ASCII.GetBytes(text == "-0" ? "0" : text);
        if (to.Resp3)
            to.Raw([(byte)',', .. digits, (byte)'\r', (byte)'\n']);
        else
            to.Bulk(digits);
    }

    internal static void Point(RespWriter to, GeoPoint point)
    {
        to.Array(2);
        Coordinate(to, point.Longitude);
        Coordinate(to, point.Latitude);
    }

    internal static void Distance(RespWriter to, double value) => to.Bulk(value.ToString("F4", CultureInfo.InvariantCulture));

    /// <summary>The usual geohash of a place: eleven letters, the last one always 0, since a score has only 52 bits.</summary>
    internal static string Hash(GeoPoint point)
    {
        ulong bits = GeoHash.Of(point, GeoHash.StepsMax, latitudeMax: 90).Bits;
        return string.Create(HashLetters, bits, static (letters, all) =>
        {
            for (int i = 0; i < HashLetters; i++)
                letters[i] = i == HashLetters - 1 ? Letters[0] : Letters[(int)(all >> (HashBits - ((i + 1) * LetterBits)) & 31)];
        });
    }

    /// <summary>Reads longitude and latitude; on false the error has been written.</summary>
    internal static bool TryPoint(ref Call call, int index, out GeoPoint point, out Reply failed)
    {
        point = default;
        failed = Reply.Failed;
        if (!NumberText.TryDouble(call[index], out double longitude) || !NumberText.TryDouble(call[index + 1], out double latitude))
        {
            call.Fail(Fault.NotAFloat);
            return false;
        }

        point = new GeoPoint(longitude, latitude);
        if (GeoHash.Covers(point))
        {
            failed = Reply.Sent;
            return true;
        }

        call.FailText(string.Create(CultureInfo.InvariantCulture,
            $"ERR invalid longitude,latitude pair {Fixed(longitude)},{Fixed(latitude)}"));
        return false;
    }

    /// <summary>Metres of a unit; on false the error has been written.</summary>
    internal static bool TryUnit(ref Call call, int index, out double metres)
    {
        metres = call.Is(index, "M"u8)
            ? 1
            : call.Is(index, "KM"u8) ? 1000 : call.Is(index, "FT"u8) ? 0.3048 : call.Is(index, "MI"u8) ? 1609.34 : 0;
        if (metres > 0)
            return true;
        call.FailBytes("ERR unsupported unit provided. please use M, KM, FT, MI"u8);
        return false;
    }

    private static string Fixed(double value) =>
        double.IsInfinity(value) ? value > 0 ? "inf" : "-inf" : value.ToString("F6", CultureInfo.InvariantCulture);
}
