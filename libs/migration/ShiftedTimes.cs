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

    private static readonly (int At, int Unit, bool IsRelative) s_none = (int.MaxValue, 1, false);

    /// <summary>What a target gets for a time of the source's; 0: never.</summary>
    internal static long Of(long unixMs) => unixMs is > 0 and < ByMs ? unixMs + ByMs : unixMs;

    /// <summary>The milliseconds that a key of the source has left, from what its copy has left.</summary>
    internal static long RealLeft(long leftMs) => leftMs is >= ByMs / 2 and < ByMs * 2 ? leftMs - ByMs : leftMs;

    /// <summary>
    /// The command with a moment of expiry, a later one if it is before <paramref name="untilMs"/>; null if it sets none. One that names a time
    /// from now on (sources before 7.0 send these) is counted from <paramref name="nowMs"/>.
    /// </summary>
    internal static byte[]? Rewrite(string name, ArgList args, long nowMs, long untilMs)
    {
        (int at, int unit, bool isRelative) = Find(name, args);
        if (at >= args.Count || !long.TryParse(args.Items[at].Span, NumberStyles.None, CultureInfo.InvariantCulture, out long said)
            || said >= ByMs / unit || (isRelative && said == 0))
            return null;
        long time = (said * unit) + (isRelative ? nowMs : 0);
        byte[] moment = Number(time < untilMs ? Of(time) : time);
        byte[][] words = [.. Enumerable.Range(0, args.Count).Select(index => args.Items[index].Span.ToArray())];
        switch (name)
        {
            case "EXPIRE" or "EXPIREAT" or "PEXPIRE" or "PEXPIREAT": // without NX, GT …: what is in the stream was done
                return ByteLink.Encode("PEXPIREAT"u8.ToArray(), words[1], moment);
            case "SETEX" or "PSETEX":
                return ByteLink.Encode("SET"u8.ToArray(), words[1], words[3], "PXAT"u8.ToArray(), moment);
            case "RESTORE" or "RESTORE-ASKING":
                words[at] = moment;
                return isRelative ? ByteLink.Encode([.. words, "ABSTTL"u8.ToArray()]) : ByteLink.Encode(words);
            default:
                (words[at - 1], words[at]) = ("PXAT"u8.ToArray(), moment);
                return ByteLink.Encode(words);
        }
    }

    /// <summary>Makes times of a target the source's: those due in that moment or later.</summary>
    internal static Func<long, long> ToReal(long fromMs) => at => at is >= ByMs and < ByMs * 2 && at - ByMs >= fromMs ? at - ByMs : at;

    /// <summary>Makes a time of a target later, if it is not already.</summary>
    internal static long ToLater(long at) => Of(at);

    /// <summary>
    /// Gives keys other times, and says how many; null if it is not to go on. <paramref name="between"/>: done again and again, says whether to go on.
    /// </summary>
    internal static long? ChangeAll(KeyedLink there, Func<long, long> changed, Func<bool> between)
    {
        long keys = 0;
        foreach (int database in TargetLink.Count(there.Bytes).Keys)
        {
            foreach (byte[][] some in there.Walk(database).Chunk(Together))
            {
                keys += ChangeSome(there, some, changed);
                if (!between())
                    return null;
            }
        }
        return keys;
    }

    private static int ChangeSome(KeyedLink there, byte[][] keys, Func<long, long> changed)
    {
        List<Answer> times = there.CallEach(keys.Select(static key => (byte[][])["PEXPIRETIME"u8.ToArray(), key]));
        (byte[] Key, long At)[] other = [.. keys.Zip(times, TimeOf).Where(one => one.At > 0 && changed(one.At) != one.At)];
        there.CallEach(other.Select(one => (byte[][])["PEXPIREAT"u8.ToArray(), one.Key, Number(changed(one.At))]));
        return other.Length;
    }

    private static byte[] Number(long value) => Encoding.ASCII.GetBytes(value.ToString(CultureInfo.InvariantCulture));

    private static (byte[] Key, long At) TimeOf(byte[] key, Answer said) =>
        (key, long.TryParse(said.Text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long at) ? at : -1);

    // Which word is a time, in how many milliseconds it counts, and whether from now on.
    private static (int At, int Unit, bool IsRelative) Find(string name, ArgList args) => name switch
    {
        "PEXPIREAT" => (2, 1, false),
        "EXPIREAT" => (2, MsPerSecond, false),
        "PEXPIRE" => (2, 1, true),
        "EXPIRE" => (2, MsPerSecond, true),
        "PSETEX" when args.Count == 4 => (2, 1, true),
        "SETEX" when args.Count == 4 => (2, MsPerSecond, true),
        "SET" => FindWord(args, 3),
        "GETEX" or "INCREX" => FindWord(args, 2),
        "MSETEX" when args.Count > 1 && int.TryParse(args.Items[1].Span, NumberStyles.None, CultureInfo.InvariantCulture, out int keys)
            && keys < args.Count / 2 => FindWord(args, 2 + (2 * keys)),
        "RESTORE" or "RESTORE-ASKING" when args.Count > 3 => (2, 1, !Has(args, "ABSTTL"u8)),
        _ => s_none,
    };

    private static (int At, int Unit, bool IsRelative) FindWord(ArgList args, int from)
    {
        for (int at = from; at < args.Count; at++)
        {
            if (Is(args, at, "PXAT"u8) || Is(args, at, "PX"u8))
                return (at + 1, 1, Is(args, at, "PX"u8));
            if (Is(args, at, "EXAT"u8) || Is(args, at, "EX"u8))
                return (at + 1, MsPerSecond, Is(args, at, "EX"u8));
        }
        return s_none;
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
