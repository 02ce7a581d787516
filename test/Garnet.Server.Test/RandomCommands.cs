using System.Globalization;
using System.Text;
using Garnet.Wire.Rdb;

namespace Garnet.Server.Test;

/// <summary>Random commands over few keys, so that they meet: everything that writes.</summary>
internal sealed class RandomCommands(int seed)
{
    private const int Keys = 12;

    // J payload of a stream, X stream, Y stream with small ids, E one of those, A group, O consumer, P HyperLogLog, U set, Q list, Z sorted set, W many members with scores, L many integers, H hash, M member, C counted member, B many members with values, D many members,
    // K key, N number key, V value, I integer, F float, S small offset, T far time in seconds, G ETag
    private static readonly string[] Shapes =
    [
        "SET K V", "SET K V", "SET N I", "SET K V EX T", "SET K V PX 1", "SET K V KEEPTTL", "SET K V NX", "SET K V XX GET", "SET K V IFEQ V", "SET K V IFNE V",
        "SETEX K T V", "PSETEX K 1 V", "SETNX K V", "GETSET K V", "MSET K V K V", "MSETNX K V K V", "MSETEX 2 K V K V EX T", "APPEND K V", "SETRANGE K S V",
        "INCR N", "DECR N", "INCRBY N I", "DECRBY N I", "INCRBYFLOAT N F", "INCREX N BYINT I UBOUND 500 LBOUND -500 SATURATE EX T ENX", "INCREX N BYFLOAT F PERSIST", "INCREX N", "GETDEL K", "GETEX K EX T", "GETEX K PERSIST", "GETEX K PX 1",
        "DEL K K", "UNLINK K", "DELEX K", "DELEX K IFNE V", "DELIFEQ K V", "RENAME K K", "RENAMENX K K", "COPY K K", "COPY K K REPLACE", "COPY K K DB 1 REPLACE", "MOVE K 1",
        "EXPIRE K T", "EXPIRE K 0", "PEXPIRE K 1", "EXPIRE K T NX", "EXPIRE K T GT", "PERSIST K", "EXPIREAT K 1",
        "PFADD P M", "PFADD P M M V", "PFADD P D", "PFADD P D", "PFMERGE P P", "PFMERGE P P P", "PFCOUNT P", "DEL P",
        "SETBIT K S 1", "SETBIT N S 0", "SETBIT K I 1", "BITFIELD K SET u8 S I INCRBY i5 I I", "BITFIELD N OVERFLOW SAT INCRBY u4 #3 I OVERFLOW FAIL INCRBY i9 S I", "BITOP XOR K K K", "BITOP NOT K K", "BITOP DIFF K K N",
        "HSET H M V", "HSET H M V M V", "HSET H B", "HSETNX H M V", "HINCRBY H C I", "HINCRBYFLOAT H C F", "HDEL H M", "HDEL H M M C", "HDEL H D", "HMSET H M V", "HSET K M V", "SET H V",
        "HEXPIRE H T FIELDS 2 M M", "HEXPIRE H T NX FIELDS 1 C", "HPEXPIRE H 0 FIELDS 1 M", "HPERSIST H FIELDS 3 M M M", "HGETEX H EX T FIELDS 2 M M", "HGETEX H PERSIST FIELDS 1 M", "HSETEX H EX T FIELDS 2 M V M V", "HSETEX H FXX KEEPTTL FIELDS 1 M V", "HGETDEL H FIELDS 2 M M",
        "SADD U M", "SADD U M M M", "SADD U D", "SADD U I", "SADD U I I I I", "SADD U L", "SREM U M", "SREM U D", "SREM U I I", "SPOP U", "SPOP U 3", "SPOP U 500", "SMOVE U U M", "SMOVE U U I",
        "SINTERSTORE U U U", "SUNIONSTORE U U U", "SDIFFSTORE U U U", "SUNIONSTORE K U", "COPY U U REPLACE", "RENAME U U", "DEL U", "EXPIRE U T", "SADD K M",
        "LPUSH Q V", "RPUSH Q M M V", "LPUSH Q M I", "RPUSH Q D", "LPUSH Q D", "LPUSHX Q M", "RPUSHX Q V", "LPOP Q", "RPOP Q", "LPOP Q S", "RPOP Q 3", "LSET Q S V", "LSET Q -1 M", "LINSERT Q BEFORE M V",
        "LINSERT Q AFTER I V", "LREM Q 0 M", "LREM Q -2 M", "LREM Q 1 I", "LTRIM Q 0 -2", "LTRIM Q S -1", "LTRIM Q 0 100", "LMOVE Q Q LEFT RIGHT", "RPOPLPUSH Q Q", "LMPOP 2 Q Q LEFT COUNT 2", "BLPOP Q Q 0.001", "BLMOVE Q Q LEFT LEFT 0.001",
        "COPY Q Q REPLACE", "RENAME Q Q", "DEL Q", "EXPIRE Q T", "LPUSH K V",
        "ZADD Z I M", "ZADD Z F M I M", "ZADD Z NX I M", "ZADD Z XX CH I M I M", "ZADD Z GT I M", "ZADD Z LT F M", "ZADD Z INCR I M", "ZINCRBY Z F M", "ZADD Z W", "ZADD Z W", "ZREM Z M M", "ZREM Z D",
        "ZREMRANGEBYRANK Z S S", "ZREMRANGEBYSCORE Z I I", "ZREMRANGEBYLEX Z [member:5 (member:7", "ZPOPMIN Z", "ZPOPMAX Z 5", "ZMPOP 2 Z Z MAX COUNT 3", "BZPOPMIN Z Z 0.001", "ZUNIONSTORE Z 2 Z Z", "ZINTERSTORE Z 2 Z U AGGREGATE MAX", "ZUNIONSTORE Z 2 Z U WEIGHTS F 3 AGGREGATE COUNT", "ZDIFFSTORE Z 2 Z Z", "ZRANGESTORE Z Z 0 -2", "COPY Z Z REPLACE", "RENAME Z Z", "DEL Z", "ZADD K I V",
        "ZEXPIRE Z T MEMBERS 2 M M", "ZEXPIRE Z T MEMBERS 3 M M M", "ZEXPIRE Z T XX MEMBERS 1 M", "ZPEXPIRE Z 0 MEMBERS 1 M", "ZPEXPIRE Z 1 MEMBERS 3 M M M", "ZPEXPIRE Z 2 NX MEMBERS 2 M M", "ZPERSIST Z MEMBERS 3 M M M", "ZCOLLECT Z",
        "XADD X * M V", "XADD X * M V M V", "XADD X * B", "XADD X * a I b F c M", "XADD X * a I b F c M", "XADD X * a I b V c M", "XADD X MAXLEN = S * a I b F c M", "XADD X MAXLEN ~ S * a V", "XADD X MINID S * a I", "XADD K * a V",
        "XADD X IDMP C C * a I", "XADD X IDMP C M * a I b V", "XADD X IDMP M M NOMKSTREAM MAXLEN ~ S * a I", "XADD X IDMPAUTO C * a S", "XCFGSET X IDMP-DURATION T", "XCFGSET X IDMP-DURATION 90 IDMP-MAXSIZE 5", "XCFGSET X IDMP-MAXSIZE 3",
        "XTRIM X MAXLEN 50", "XTRIM X MAXLEN S", "XDEL X 0-1 5-5", "XSETID X 9999999999999999-5", "DEL X", "COPY X X REPLACE", "RENAME X X", "EXPIRE X T", "COPY X X DB 1 REPLACE", "MOVE X 1",
        "XADD Y 5-* a I", "XADD Y 5-* a I b V", "XADD Y 5-* B", "XADD Y 5-* a I", "XADD Y 5-* a I", "XADD Y 5-* a I b V", "XADD Y 5-* b I", "XDEL Y E E", "XDEL Y E E E E E E", "XTRIM Y MAXLEN = 40", "XTRIM Y MINID E", "DEL Y", "XSETID Y 5-61 ENTRIESADDED 5000 MAXDELETEDID E", "COPY Y Y REPLACE", "RENAME Y Y", "COPY Y Y DB 1 REPLACE", "MOVE Y 1",
        "XGROUP CREATE Y A 0 MKSTREAM", "XGROUP CREATE Y A $ MKSTREAM", "XGROUP SETID Y A E", "XGROUP DESTROY Y A", "XGROUP CREATECONSUMER Y A O", "XGROUP DELCONSUMER Y A O", "XREADGROUP GROUP A O COUNT 7 STREAMS Y >", "XREADGROUP GROUP A O NOACK STREAMS Y >",
        "XREADGROUP GROUP A O COUNT 70 STREAMS Y >", "XREADGROUP GROUP A O COUNT 5 STREAMS Y E", "XREADGROUP GROUP A O BLOCK 1 STREAMS Y >", "XACK Y A E E E E E E E E", "XACK Y A E E E E E E E E E E", "XACK Y A E E E E E E E E E E E E E E", "XACK Y A E", "XREADGROUP GROUP A O STREAMS Y >", "XREADGROUP GROUP A O STREAMS Y >", "XGROUP CREATE Y A 0", "XCLAIM Y A O 0 E E E", "XCLAIM Y A O 0 E FORCE RETRYCOUNT S LASTID E", "XCLAIM Y A O 5 E JUSTID",
        "XREADGROUP GROUP A O CLAIM 0 COUNT 5 STREAMS Y >", "XREADGROUP GROUP A O CLAIM S NOACK STREAMS Y >", "XREADGROUP GROUP A O COUNT 9 CLAIM 1 STREAMS Y Y > E", "XAUTOCLAIM Y A O 0 E COUNT 5", "XAUTOCLAIM Y A O 0 - JUSTID", "XNACK Y A FAIL IDS 12 E E E E E E E E E E E E", "XNACK Y A SILENT IDS 8 E E E E E E E E FORCE", "XNACK Y A FATAL IDS 4 E E E E", "XNACK Y A FAIL IDS 6 E E E E E E RETRYCOUNT S", "RESTORE Y 0 J REPLACE", "XDELEX Y ACKED IDS 3 E E E", "XDELEX Y DELREF IDS 3 E E E", "XACKDEL Y A IDS 4 E E E E", "XACKDEL Y A ACKED IDS 2 E E", "XTRIM Y MAXLEN S ACKED", "XTRIM Y MAXLEN ~ S DELREF", "XADD Y MAXLEN 50 ACKED 5-* a I", "XTRIM Y MINID E DELREF",
        "EXPIRE H T", "PEXPIRE H 1", "RENAME H H", "COPY H H REPLACE", "COPY H H DB 1 REPLACE", "MOVE H 1", "DEL H", "PERSIST H",
        "SETWITHETAG K V", "SETWITHETAG K V EX T", "SETIFMATCH K V G", "SETIFGREATER K V G", "DELIFGREATER K G", "GET K", "FLUSHDB", "SELECT 0", "SELECT 1", "SELECT 0", "SWAPDB 0 1",
    ];

    private static readonly byte[][] Streams = [.. Payloads.All().Where(static form => form.Name.StartsWith("stream", StringComparison.Ordinal)).Select(static form => form.Payload)];

    private static readonly (string Kind, int Count)[] s_kinds =
        [("key", Keys), ("number", Keys / 3), ("hash", 3), ("events", 2), ("stream", 3), ("sorted", 3), ("list", 3), ("set", 4), ("loglog", 3)];

    /// <summary>The keys of all of them.</summary>
    internal static IReadOnlyList<string> AllKeys { get; } = [.. s_kinds.SelectMany(static kind => Enumerable.Range(0, kind.Count).Select(i => $"{kind.Kind}:{i}"))];

    private readonly Random _random = new(seed);

    /// <summary>Whether keys may be given a time that comes while the test runs.</summary>
    internal bool Expires { get; init; } = true;

    /// <summary>The next command as bytes of the protocol.</summary>
    internal void AddTo(StringBuilder text)
    {
        string shape = Shapes[_random.Next(Shapes.Length)];
        if (shape is "FLUSHDB" or "SWAPDB 0 1" && _random.Next(20) != 0) shape = "SET K V";
        if (!Expires) shape = shape.Replace("PX 1", "PX 100000000", StringComparison.Ordinal).Replace("PEXPIRE K 1", "PERSIST K", StringComparison.Ordinal)
            .Replace("PEXPIRE H 1", "PERSIST H", StringComparison.Ordinal).Replace("PSETEX K 1 V", "SET K V", StringComparison.Ordinal)
            .Replace("ZPEXPIRE Z 1 ", "ZPEXPIRE Z 100000000 ", StringComparison.Ordinal).Replace("ZPEXPIRE Z 2 ", "ZPEXPIRE Z 200000000 ", StringComparison.Ordinal);
        string[] words = [.. shape.Split(' ').SelectMany(Words)];
        text.Append(CultureInfo.InvariantCulture, $"*{words.Length}\r\n");
        foreach (string word in words)
        {
            string argument = Argument(word);
            text.Append(CultureInfo.InvariantCulture, $"${argument.Length}\r\n{argument}\r\n");
        }
    }

    private string[] Words(string word)
    {
        if (word is not ("B" or "D" or "L" or "W")) return [word];
        int from = _random.Next(200);
        if (word == "L") return [.. Enumerable.Range(from, _random.Next(1, 600)).Select(static i => (i * 5).ToString(CultureInfo.InvariantCulture))];
        IEnumerable<string> members = Enumerable.Range(from, _random.Next(1, 150)).Select(static i => "member:" + i.ToString(CultureInfo.InvariantCulture));
        if (word == "W") return [.. members.SelectMany(static member => (string[])["I", member])];
        return [.. word == "D" ? members : members.SelectMany(static member => (string[])[member, "V"])];
    }

    private string Argument(string word) => word switch
    {
        "J" => Encoding.Latin1.GetString(Streams[_random.Next(Streams.Length)]),
        "H" => "hash:" + _random.Next(3),
        "Y" => "events:" + _random.Next(2),
        "E" => "5-" + _random.Next(1, 60),
        "A" => "group" + _random.Next(2),
        "O" => "consumer" + _random.Next(4),
        "X" => "stream:" + _random.Next(3),
        "Z" => "sorted:" + _random.Next(3),
        "Q" => "list:" + _random.Next(3),
        "U" => "set:" + _random.Next(4),
        "M" => "member:" + _random.Next(200),
        "C" => "count:" + _random.Next(3),
        "K" => "key:" + _random.Next(Keys),
        "P" => "loglog:" + _random.Next(3),
        "N" => "number:" + _random.Next(Keys / 3),
        "V" => Value(),
        "I" => _random.Next(-1000, 1000).ToString(CultureInfo.InvariantCulture),
        "F" => (_random.Next(-1000, 1000) / 8.0).ToString(CultureInfo.InvariantCulture),
        "S" => _random.Next(40).ToString(CultureInfo.InvariantCulture),
        "T" => (100_000 + _random.Next(100_000)).ToString(CultureInfo.InvariantCulture),
        "G" => _random.Next(6).ToString(CultureInfo.InvariantCulture),
        _ => word,
    };

    private string Value()
    {
        int length = _random.Next(10) switch { 0 => 0, 1 => _random.Next(3000), 2 => 1, _ => _random.Next(60) };
        return new string((char)('a' + _random.Next(3)), length);
    }
}
