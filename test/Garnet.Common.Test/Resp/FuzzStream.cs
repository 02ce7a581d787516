using System.Globalization;
using System.Text;

namespace Garnet.Common.Test.Resp;

/// <summary>Random streams of commands as clients send them, and what happens to them on the way: flips, cuts, repeats, edges.</summary>
internal sealed class FuzzStream(Random random)
{
    private static readonly string[] Edges =
    [
        "*0\r\n", "*-1\r\n", "$-1\r\n", "$0\r\n\r\n", "*1048577\r\n", "*1048576\r\n", "$536870913\r\n", "$536870912\r\n", "*99999999999999999999\r\n", "$2147483647\r\n",
        "*2147483648\r\n", "\r", "\n", "\r\n", "\0", "\"", "'", "\\x4", "POST / HTTP/1.1\r\n", "Host: a\r\n", "*", "$", "*1\r\n", "*2\r\n$3\r\nGET\r\n", "*3\r\n$3\r\nSET\r\n", "$9\r\n",
    ];

    /// <summary>Seconds for one fuzz test: GARNET_FUZZ_SECONDS, else 1, or 20 where CI=true.</summary>
    public static double Seconds { get; } =
        double.TryParse(Environment.GetEnvironmentVariable("GARNET_FUZZ_SECONDS"), CultureInfo.InvariantCulture, out double seconds) ? seconds
        : LongRun.IsWanted ? 20 : 1;

    /// <summary>GARNET_FUZZ_SEED, else one of the moment; to be printed by every test.</summary>
    public static int Seed { get; } =
        int.TryParse(Environment.GetEnvironmentVariable("GARNET_FUZZ_SEED"), CultureInfo.InvariantCulture, out int seed) ? seed : Environment.TickCount & 0xFFFFFF;

    public byte[] Next()
    {
        using MemoryStream stream = new();
        for (int commands = random.Next(1, 12); commands > 0; commands--) stream.Write(Command());
        byte[] bytes = stream.ToArray();
        for (int faults = random.Next(3) == 0 ? 0 : random.Next(4); faults > 0; faults--) bytes = Spoil(bytes);
        return bytes;
    }

    private byte[] Command() => random.Next(8) switch
    {
        0 => Encoding.Latin1.GetBytes(Line()),
        1 => Encoding.Latin1.GetBytes(Edges[random.Next(Edges.Length)]),
        _ => Array(),
    };

    private byte[] Array()
    {
        using MemoryStream stream = new();
        int count = random.Next(30) == 0 ? random.Next(2000) : random.Next(1, 6);
        stream.Write(Encoding.ASCII.GetBytes($"*{count}\r\n"));
        for (int i = 0; i < count; i++)
        {
            byte[] word = i == 0 && random.Next(3) > 0 ? Encoding.ASCII.GetBytes(random.Next(2) == 0 ? "GET" : "SET") : Word();
            stream.Write(Encoding.ASCII.GetBytes($"${word.Length}\r\n"));
            stream.Write(word);
            stream.Write("\r\n"u8);
        }
        return stream.ToArray();
    }

    private string Line()
    {
        if (random.Next(20) == 0) return new string('x', 65_530 + random.Next(12)) + (random.Next(2) == 0 ? "\n" : "\r\n");
        StringBuilder line = new();
        for (int words = random.Next(5); words >= 0; words--)
        {
            string word = Encoding.Latin1.GetString(Word()).Replace('\n', 'n');
            line.Append(random.Next(4) switch { 0 => $"\"{word}\\x4{random.Next(10)}\"", 1 => $"'{word}'", _ => word }).Append(' ', random.Next(1, 3));
        }
        return line.Append(random.Next(2) == 0 ? "\n" : "\r\n").ToString();
    }

    private byte[] Word()
    {
        byte[] word = new byte[random.Next(40) == 0 ? random.Next(40_000) : random.Next(random.Next(2) == 0 ? 12 : 110)];
        random.NextBytes(word);
        if (random.Next(2) == 0)
            for (int i = 0; i < word.Length; i++) word[i] = (byte)('a' + (word[i] % 26));
        return word;
    }

    private byte[] Spoil(byte[] bytes)
    {
        if (bytes.Length == 0) return bytes;
        int at = random.Next(bytes.Length), length = random.Next(Math.Min(bytes.Length - at, 20) + 1);
        switch (random.Next(5))
        {
            case 0:
                bytes[at] = (byte)random.Next(256);
                return bytes;
            case 1:
                return [.. bytes[..at], .. bytes[(at + length)..]];
            case 2:
                return [.. bytes[..at], .. Encoding.Latin1.GetBytes(Edges[random.Next(Edges.Length)]), .. bytes[at..]];
            case 3:
                return [.. bytes[..(at + length)], .. bytes[at..]];
            default:
                return bytes[..at];
        }
    }
}
