using System.Globalization;
using System.Text.RegularExpressions;

namespace Garnet.Load.Traffic;

/// <summary>
/// The commands an operation name stands for. In a command, <c>#</c> becomes twelve digits of a fresh key number and
/// <c>%</c> becomes the value. Unknown names are taken as commands themselves, several with <c>;</c> between them, e.g.
/// <c>"ZADD zset # m:#"</c>.
/// </summary>
internal static partial class CommandText
{
    public static string[] Of(string operation)
    {
        Match sized = Sized().Match(operation);
        if (sized.Success) return OfSized(sized.Groups[1].Value, int.Parse(sized.Groups[2].Value, CultureInfo.InvariantCulture));
        return operation switch
        {
            "ping" => ["PING"],
            "get" => ["GET key:#"],
            "set" => ["SET key:# %"],
            "incr" => ["INCR ctr:#"],
            "del" => ["DEL key:#"],
            "exists" => ["EXISTS key:#"],
            "hset" => ["HSET hash:# field %"],
            "sadd" => ["SADD set m:#"],
            "zadd" => ["ZADD zset # m:#"],
            "lpush" => ["LPUSH list:# %"],
            "lpushlpop" => ["LPUSH list:# %", "LPOP list:#"],
            _ => operation.Split(" ; "),
        };
    }

    private static string[] OfSized(string name, int size)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(size, 1);
        if (name == "mget") return ["MGET" + Repeat(" key:#", size)];
        if (name == "mset") return ["MSET" + Repeat(" key:# %", size)];
        if (name == "hset") return [.. from field in Enumerable.Range(0, size) select string.Create(CultureInfo.InvariantCulture, $"HSET hash:# field{field:D3} %")];
        if (name == "multi") return ["MULTI", .. Enumerable.Repeat("SET key:# %", size), "EXEC"];
        string[] mix = new string[100];
        for (int i = 0; i < mix.Length; i++) mix[i] = i * 61 % 100 < size ? "GET key:#" : "SET key:# %";   // 61 is coprime with 100: an even spread
        return mix;
    }

    private static string Repeat(string text, int times) => string.Concat(Enumerable.Repeat(text, times));

    [GeneratedRegex("^(mget|mset|mix|multi|hset)([0-9]{1,3})$")]
    private static partial Regex Sized();
}
