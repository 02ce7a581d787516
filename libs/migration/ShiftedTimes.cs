using System.Globalization;
using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;

namespace Garnet.Migration;

/// <summary>
/// Times of expiry as the target has them until the cut-over: a thousand years later, so that nothing expires there by itself. A replica has to
/// wait for its primary's DEL: a key whose time comes while PERSIST, EXPIRE or INCR is still on its way would be lost, or come back without most
/// of what it held.
/// </summary>
internal static unsafe class ShiftedTimes
{
    private const long ByMs = 35_000_000_000_000; // whole seconds; nothing real is due then or later
    private const int Together = 512, MsPerSecond = 1000;

    /// <summary>What a target gets for a time of the source's; 0: never.</summary>
    internal static long Of(long unixMs) => unixMs is > 0 and < ByMs ? unixMs + ByMs : unixMs;

    /// <summary>The milliseconds that a key of the source has left, from what its copy has left.</summary>
    internal static long RealLeft(long leftMs) => leftMs is >= ByMs / 2 and < ByMs * 2 ? leftMs - ByMs : leftMs;

    /// <summary>The command with a later time; null if it sets none.</summary>
    internal static byte[]? Rewrite(string name, ArgList args)
    {
        int at = name switch
        {
            "SET" => BehindWord(args, 3),
            "PEXPIREAT" or "EXPIREAT" => 2,
            "RESTORE" when Has(args, "ABSTTL"u8) => 2,
            _ => int.MaxValue,
        };
        if (at >= args.Count || !long.TryParse(args.Items[at].Span, NumberStyles.None, CultureInfo.InvariantCulture, out long time))
            return null;
        int unit = name == "EXPIREAT" || Is(args, at - 1, "EXAT"u8) ? MsPerSecond : 1;
        long moved = time < ByMs / unit ? Of(time * unit) / unit : time;
        byte[][] words = [.. Enumerable.Range(0, args.Count).Select(index => args.Items[index].Span.ToArray())];
        words[at] = Encoding.ASCII.GetBytes(moved.ToString(CultureInfo.InvariantCulture));
        return ByteLink.Encode(words);
    }

    /// <summary>Gives all keys their real times; null if it was told to end. <paramref name="between"/>: what is to be done again and again.</summary>
    internal static long? SetAll(KeyedLink there, Action between, CancellationToken ends)
    {
        long keys = 0;
        foreach (int database in TargetLink.Count(there.Bytes).Keys)
        {
            foreach (byte[][] some in there.Walk(database).Chunk(Together))
            {
                keys += SetSome(there, some);
                between();
                if (ends.IsCancellationRequested)
                    return null;
            }
        }
        return keys;
    }

    private static int SetSome(KeyedLink there, byte[][] keys)
    {
        List<Answer> times = there.CallEach(keys.Select(static key => (byte[][])["PEXPIRETIME"u8.ToArray(), key]));
        (byte[] Key, long At)[] shifted = [.. keys.Zip(times, TimeOf).Where(static one => one.At is >= ByMs and < ByMs * 2)];
        there.CallEach(shifted.Select(static one => (byte[][])
            ["PEXPIREAT"u8.ToArray(), one.Key, Encoding.ASCII.GetBytes((one.At - ByMs).ToString(CultureInfo.InvariantCulture))]));
        return shifted.Length;
    }

    private static (byte[] Key, long At) TimeOf(byte[] key, Answer said) =>
        (key, long.TryParse(said.Text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long at) ? at : -1);

    private static int BehindWord(ArgList args, int from)
    {
        for (int at = from; at < args.Count; at++)
        {
            if (Is(args, at, "PXAT"u8) || Is(args, at, "EXAT"u8))
                return at + 1;
        }
        return int.MaxValue;
    }

    private static bool Has(ArgList args, ReadOnlySpan<byte> word)
    {
        for (int at = 4; at < args.Count; at++)
        {
            if (Is(args, at, word))
                return true;
        }
        return false;
    }

    private static bool Is(ArgList args, int at, ReadOnlySpan<byte> word) => Ascii.EqualsIgnoreCase(args.Items[at].Span, word);
}
