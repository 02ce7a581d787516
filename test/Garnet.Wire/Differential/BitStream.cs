using System.Globalization;

namespace Garnet.Wire.Differential;

/// <summary>Random commands on strings as arrays of bits, over few keys and short strings, now and then a long one.</summary>
internal sealed class BitStream(Random random)
{
    public string[] Next() => random.Next(24) switch
    {
        < 5 => ["SETBIT", Key(), Offset(), Pick("0", "1", "1", "2", "x")],
        < 7 => ["GETBIT", Key(), Offset()],
        < 10 => ["BITCOUNT", Key(), .. Range()],
        < 13 => ["BITPOS", Key(), Pick("0", "1", "1", "2"), .. Range()],
        < 16 => ["BITOP", Pick("AND", "OR", "XOR", "NOT", "bogus"), Key(), Key(), .. random.Next(2) == 0 ? (string[])[Key(), Key()] : []],
        < 20 => [Pick("BITFIELD", "BITFIELD", "BITFIELD_RO"), Key(), .. Enumerable.Range(0, random.Next(4)).SelectMany(_ => Step())],
        20 => ["SET", Key(), Text()],
        21 => ["SETRANGE", Key(), Number(0, 300), Text()],
        22 => random.Next(3) == 0 ? ["LPUSH", "list", "a"] : [Pick("DEL", "STRLEN"), Key()],
        _ => ["GET", Key()],
    };

    private string[] Step()
    {
        string[] place = [Pick("u", "i") + Pick("1", "3", "5", "8", "16", "33", "63", "64"), Pick("", "#") + Number(0, 100)];
        string[] overflow = random.Next(3) == 0 ? ["OVERFLOW", Pick("WRAP", "SAT", "FAIL", "FAIL", "bogus")] : [];
        return random.Next(3) switch
        {
            0 => ["GET", .. place],
            1 => [.. overflow, "SET", .. place, Value()],
            _ => [.. overflow, "INCRBY", .. place, Value()],
        };
    }

    private string Value() => random.Next(3) switch { 0 => Number(-300, 300), 1 => Pick("9223372036854775807", "-9223372036854775808", "x"), _ => random.NextInt64(long.MinValue, long.MaxValue).ToString(CultureInfo.InvariantCulture) };

    private string[] Range() => random.Next(4) switch
    {
        0 => [],
        1 => [Number(-60, 60)],
        2 => [Number(-60, 60), Number(-60, 60)],
        _ => [Number(-300, 300), Number(-300, 300), Pick("BIT", "BIT", "BYTE", "bogus")],
    };

    private string Offset() => random.Next(8) switch { 0 => Pick("x", "-1", "4294967296"), 1 => Number(0, 5000), _ => Number(0, 200) };

    private string Text()
    {
        byte[] bytes = new byte[random.Next(random.Next(8) == 0 ? 300 : 40)];
        if (random.Next(4) == 0) Array.Fill(bytes, (byte)(random.Next(2) * 255));
        else random.NextBytes(bytes);
        return string.Concat(bytes.Select(static one => (char)one));
    }

    private string Key() => random.Next(30) == 0 ? "list" : "b" + Number(0, 5);

    private string Number(int from, int to) => random.Next(from, to).ToString(CultureInfo.InvariantCulture);

    private string Pick(params string[] choices) => choices[random.Next(choices.Length)];
}
