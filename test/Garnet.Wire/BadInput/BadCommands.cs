namespace Garnet.Wire.BadInput;

/// <summary>Rows of the list of bad inputs (the numbers are its own) that are single commands with a known answer.</summary>
internal static class BadCommands
{
    private const string Max = "9223372036854775807", Min = "-9223372036854775808";

    public static IEnumerable<BadCommand> All() =>
        [.. LineBreaks(), .. Handshakes(), .. Sizes(), .. Aliases(), .. Patterns(), .. KeyNumbers(), .. Expiries(), .. Numbers(), .. Streams()];

    private static IEnumerable<BadCommand> LineBreaks() =>
    [
        new(14, "a command name with a line break", ["NO\r\n+OK", "x"], "-ERR unknown command 'NO  +OK', with args beginning with: 'x'\\x20"),
        new(14, "an argument with a line break", ["NOSUCH", "a\r\n-ERR b"], "-ERR unknown command 'NOSUCH', with args beginning with: 'a  -ERR b'\\x20"),
        new(14, "a subcommand with a line break", ["CLIENT", "x\r\n+OK"]),
        new(14, "a setting with a line break", ["CONFIG", "SET", "x\r\n+OK", "1"]),
        new(14, "a client name with a line break", ["CLIENT", "SETNAME", "a\r\nb"]),
        new(14, "a protocol version with a line break", ["HELLO", "3\r\n+OK"]),
        new(14, "an option with a line break", ["SET", "k", "v", "XX\r\n+OK"]),
    ];

    private static IEnumerable<BadCommand> Handshakes() =>
    [
        new(15, "HELLO of a protocol that does not exist", ["HELLO", "4"]),
        new(15, "HELLO of a protocol that is no number", ["HELLO", "three"]),
        new(15, "HELLO with half a login", ["HELLO", "3", "AUTH", "default"]),
        new(15, "HELLO with half a name", ["HELLO", "3", "SETNAME"]),
        new(15, "HELLO with an unknown option", ["HELLO", "3", "NOSUCH", "x"]),
        new(15, "a client name with a blank", ["CLIENT", "SETNAME", "a b"]),
    ];

    private static IEnumerable<BadCommand> Sizes() =>
    [
        .. from offset in new[] { "536870912", "2147483648", "4294967296", Max, "-1", Min }
           select new BadCommand(17, $"SETRANGE at {offset}", ["SETRANGE", "bad:k", offset, "v"]),
        new(17, "SETRANGE of nothing far out", ["SETRANGE", "bad:none", Max, ""]),
        new(17, "GETRANGE to the ends of the world", ["GETRANGE", "bad:k", Min, Max]) { Before = [["SET", "bad:k", "value"]] },
        new(17, "GETRANGE from the far end", ["GETRANGE", "bad:k", Max, Min]) { Before = [["SET", "bad:k", "value"]] },
        new(17, "SUBSTR with edges", ["SUBSTR", "bad:k", Min, "-1"]) { Before = [["SET", "bad:k", "value"]] },
    ];

    private static IEnumerable<BadCommand> Aliases() =>
    [
        new(20, "MSETNX of one key twice", ["MSETNX", "bad:a", "1", "bad:a", "2"]) { Before = [["DEL", "bad:a"]] },
        new(20, "and the later value stands", ["GET", "bad:a"]) { Before = [["DEL", "bad:a"], ["MSETNX", "bad:a", "1", "bad:a", "2"]] },
        new(20, "MSET of one key twice", ["GET", "bad:a"]) { Before = [["MSET", "bad:a", "1", "bad:a", "2"]] },
        new(20, "RENAME to itself", ["RENAME", "bad:a", "bad:a"]) { Before = [["SET", "bad:a", "1"]] },
        new(20, "RENAMENX to itself", ["RENAMENX", "bad:a", "bad:a"]) { Before = [["SET", "bad:a", "1"]] },
        new(20, "COPY to itself", ["COPY", "bad:a", "bad:a", "REPLACE"]) { Before = [["SET", "bad:a", "1"]] },
        new(20, "MOVE to its own database", ["MOVE", "bad:a", "0"]) { Before = [["SET", "bad:a", "1"]] },
        new(20, "DEL of one key twice", ["DEL", "bad:a", "bad:a"]) { Before = [["SET", "bad:a", "1"]] },
        new(20, "the value is whole after all that", ["GET", "bad:a"]) { Before = [["SET", "bad:a", "1"], ["RENAME", "bad:a", "bad:a"], ["COPY", "bad:a", "bad:a", "REPLACE"]] },
        new(20, "SWAPDB of a database with itself", ["SWAPDB", "0", "0"]),
    ];

    private static IEnumerable<BadCommand> Patterns()
    {
        // Long enough that a matcher which tries every way would not end.
        string[][] before = [["SET", "bad:" + new string('a', 2000), "1"]];
        string stars = string.Concat(Enumerable.Repeat("*a", 500_000)) + "b";
        yield return new(22, "KEYS with half a million stars", ["KEYS", stars]) { Before = before };
        yield return new(22, "KEYS with a million stars in a row", ["KEYS", "bad:" + new string('*', 1_000_000) + "b"]) { Before = before };
        yield return new(22, "KEYS with nested classes", ["KEYS", new string('[', 100_000)]) { Before = before };
        yield return new(22, "KEYS with an open class and an escape", ["KEYS", "bad:[a-\\"]) { Before = before };
        yield return new(22, "KEYS with a class of a million letters", ["KEYS", "bad:[" + new string('z', 1_000_000) + "]"]) { Before = before };
        yield return new(22, "SCAN with half a million stars", ["SCAN", "0", "COUNT", "1000000", "MATCH", stars], "[ \"0\" [ ] ]") { Before = before };
        yield return new(22, "COMMAND LIST with a hundred thousand stars", ["COMMAND", "LIST", "FILTERBY", "PATTERN", string.Concat(Enumerable.Repeat("*q", 50_000)) + "b"]);
        yield return new(22, "CONFIG GET with a hundred thousand stars", ["CONFIG", "GET", string.Concat(Enumerable.Repeat("*q", 50_000)) + "b"]);
        yield return new(22, "PUBSUB CHANNELS with half a million stars", ["PUBSUB", "CHANNELS", stars]);
    }

    private static IEnumerable<BadCommand> KeyNumbers()
    {
        foreach (string number in new[] { "0", "-1", Min, Max, "99999999999999999999", "2", "x", "" })
            foreach (string command in new[] { "EVAL", "ZUNION", "ZUNIONSTORE", "LMPOP", "XREAD", "MSETEX" })
                yield return new(27, $"COMMAND GETKEYS {command} of '{number}' keys", ["COMMAND", "GETKEYS", command, number, number], command == "EVAL" ? "[ ]" : "?-ERR *"); // a script need not have keys: redis answers none, whatever the number says
        yield return new(27, "COMMAND GETKEYS without keys", ["COMMAND", "GETKEYS", "PING", "x"]);
        yield return new(27, "COMMAND GETKEYS of too few arguments", ["COMMAND", "GETKEYS", "SET", "k"]);
        yield return new(27, "COMMAND GETKEYS of a broken pair", ["COMMAND", "GETKEYS", "MSET", "a", "1", "b"], "?*");
        yield return new(27, "COMMAND GETKEYSANDFLAGS of nothing known", ["COMMAND", "GETKEYSANDFLAGS", "NOSUCH", "k"]);
        yield return new(27, "COMMAND GETKEYS of itself", ["COMMAND", "GETKEYS", "COMMAND", "GETKEYS", "COMMAND", "GETKEYS"], "?-ERR *");
    }

    private static IEnumerable<BadCommand> Expiries()
    {
        string[][] before = [["SET", "bad:e", "1"]];
        foreach (string time in new[] { "0", "-1", Max, Min, "9223372036854775", "9223372036854775806", "9999999999999999999", "1.5", "", "x", " 1" })
        {
            foreach (string command in new[] { "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT" })
                yield return new(36, $"{command} of '{time}'", [command, "bad:e", time]) { Before = before };
            foreach (string option in new[] { "EX", "PX", "EXAT", "PXAT" })
            {
                yield return new(36, $"SET {option} '{time}'", ["SET", "bad:e", "1", option, time]) { Before = before };
                yield return new(36, $"GETEX {option} '{time}'", ["GETEX", "bad:e", option, time]) { Before = before };
            }
            yield return new(36, $"SETEX of '{time}'", ["SETEX", "bad:e", time, "1"]) { Before = before };
            yield return new(36, $"PSETEX of '{time}'", ["PSETEX", "bad:e", time, "1"]) { Before = before };
        }
        foreach (string command in new[] { "TTL", "EXPIRETIME", "PEXPIRETIME" })
        {
            yield return new(36, $"{command} after the longest expiry", [command, "bad:e"])
            {
                Before = [["SET", "bad:e", "1"], ["PEXPIREAT", "bad:e", Max]], GoesByTheClock = command == "TTL",
            };
        }
    }

    private static IEnumerable<BadCommand> Numbers()
    {
        foreach (string number in new[] { "-0", "+1", "1e400", "0x10", " 1", "1 ", "", "01", "1_0", "\0", "1\0", Max, Min, "9223372036854775808", "-9223372036854775809", "99999999999999999999" })
        {
            string shown = number.Replace("\0", "NUL", StringComparison.Ordinal);
            yield return new(38, $"INCR of '{shown}'", ["INCR", "bad:n"]) { Before = [["SET", "bad:n", number]] };
            yield return new(38, $"DECR of '{shown}'", ["DECR", "bad:n"]) { Before = [["SET", "bad:n", number]] };
            yield return new(38, $"INCRBY '{shown}'", ["INCRBY", "bad:n", number]) { Before = [["SET", "bad:n", "10"]] };
            yield return new(38, $"DECRBY '{shown}'", ["DECRBY", "bad:n", number]) { Before = [["SET", "bad:n", "10"]] };
            yield return new(38, $"INCRBYFLOAT '{shown}'", ["INCRBYFLOAT", "bad:n", number]) { Before = [["SET", "bad:n", "10"]] };
            yield return new(38, $"INCRBYFLOAT of '{shown}'", ["INCRBYFLOAT", "bad:n", "1"]) { Before = [["SET", "bad:n", number]] };
            yield return new(38, $"GETRANGE from '{shown}'", ["GETRANGE", "bad:n", number, "5"]) { Before = [["SET", "bad:n", "value"]] };
            yield return new(38, $"SELECT '{shown}'", ["SELECT", number]);
            // The reference takes a few spellings that no client sends; ours takes a number and nothing else.
            yield return new(38, $"SCAN from '{shown}'", ["SCAN", number, "MATCH", "no such key"], "?*");
        }
        foreach (string number in new[] { "inf", "-inf", "nan", "1e308", "1e-400", "0x1p4", "1e5", ".5", "5.", "1e", "Infinity" })
            yield return new(38, $"INCRBYFLOAT '{number}'", ["INCRBYFLOAT", "bad:n", number]) { Before = [["SET", "bad:n", "1"]] };
    }

    // Ids and counts at the ends of what their types hold.
    private static IEnumerable<BadCommand> Streams()
    {
        const string Last = "18446744073709551615";
        string[][] one = [["DEL", "bad:x"], ["XADD", "bad:x", "5-1", "f", "v"], ["XGROUP", "CREATE", "bad:x", "g", "0"]], full = [["DEL", "bad:x"], ["XADD", "bad:x", $"{Last}-{Last}", "f", "v"], ["XGROUP", "CREATE", "bad:x", "g", "0"]];
        return
        [
            .. from id in new[] { "0-0", "-1", "5-", "-", $"{Last}0", $"{Last}-{Last}0", "a-b", "5-1-1", "5-1", "" }
               select new BadCommand(17, $"XADD with the id '{id}'", ["XADD", "bad:x", id, "f", "v"]) { Before = one },
            new(17, "XADD behind the greatest id", ["XADD", "bad:x", "*", "f", "v"]) { Before = full },
            new(17, "XREADGROUP behind the greatest id", ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "bad:x", $"{Last}-{Last}"]) { Before = full },
            new(17, "XRANGE behind the greatest id", ["XRANGE", "bad:x", $"({Last}-{Last}", "+"]) { Before = full },
            new(17, "XRANGE before the smallest id", ["XRANGE", "bad:x", "-", "(0-0"]) { Before = one },
            new(17, "XRANGE from the end to the beginning", ["XRANGE", "bad:x", "+", "-"]) { Before = one },
            new(17, "XADD with half a field", ["XADD", "bad:x", "*", "f"]) { Before = one },
            .. from count in new[] { Max, Min, "-1", "x", Last }
               from words in new[] { new[] { "XTRIM", "bad:x", "MAXLEN", count }, ["XRANGE", "bad:x", "-", "+", "COUNT", count], ["XREAD", "COUNT", count, "STREAMS", "bad:x", "0"], ["XPENDING", "bad:x", "g", "-", "+", count], ["XAUTOCLAIM", "bad:x", "g", "c", count, "0"], ["XCLAIM", "bad:x", "g", "c", "0", "5-1", "RETRYCOUNT", count] }
               select new BadCommand(18, string.Join(' ', words), words) { Before = one },
            new(17, "XSETID below an entry", ["XSETID", "bad:x", "1-1"]) { Before = one },
            new(17, "XSETID with more deleted than there was", ["XSETID", "bad:x", "9-9", "ENTRIESADDED", "1", "MAXDELETEDID", $"{Last}-{Last}"]) { Before = one },
            new(17, "XGROUP CREATE that has read less than nothing", ["XGROUP", "CREATE", "bad:x", "h", "0", "ENTRIESREAD", Min]) { Before = one },
            new(14, "a group's name with a line break", ["XREADGROUP", "GROUP", "g\r\n+OK", "c", "STREAMS", "bad:x", ">"]) { Before = one },
            new(20, "a stream read twice at once", ["XREAD", "STREAMS", "bad:x", "bad:x", "0", "0"]) { Before = one },
            new(20, "an entry acknowledged twice at once", ["XACK", "bad:x", "g", "5-1", "5-1"]) { Before = [.. one, ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "bad:x", ">"]] },
        ];
    }
}
