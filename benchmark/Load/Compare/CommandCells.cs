using System.Net;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare;

/// <summary>
/// Commands of every type on small and on large values, to find those that cost more than elsewhere. In a command # is a key number
/// below the cell's bound; several commands of a cell follow each other.
/// </summary>
internal static class CommandCells
{
    private const long Small = 100, Medium = 1000, Large = 100_000;
    private const int FillPipeline = 100, FillTimes = 3;

    // Each is sent three times as often as it has keys, with random ones: some 95 of 100 are there then.
    private static readonly (string Command, long Keys)[] Fills =
    [
        ("HSET hl f:# %", Large), ("SADD sl m:#", Large), ("ZADD zl # m:#", Large), ("RPUSH ll m:#", Large), ("ZADD lex 0 m:#", Large),
        ("HSET hm f:# %", Medium), ("SADD sm m:#", Medium), ("SADD sn m:#", Medium * 2), ("ZADD zm # m:#", Medium), ("RPUSH lm m:#", Medium), ("RPUSH numbers #", Medium),
        ("HSET hs:# one % two % three %", Small), ("SADD ss:# one two three", Small), ("ZADD zs:# 1 one 2 two 3 three", Small), ("RPUSH ls:# one two three", Small),
        ("XADD xl * job # of #", 20_000), ("SETRANGE bits 1048575 x", 1), ("SETRANGE beats 1048575 x", 1), ("PFADD seen m:#", 10_000), ("PFADD met m:#", 10_000), ("GEOADD gl 13.# 38.# m:#", Large),
        ("SET text abcabbaabcbcabdcabbacabcbabcbabcabbaabcbcabdcabbacabcb", 1), ("SET other cabbacabcbabcabcabbaabcbcabdcabbacabcbabcbabcabbaabcbc", 1),
    ];

    /// <summary>The cells: what is sent, and how many keys there are.</summary>
    public static readonly (string Commands, long Keys)[] All =
    [
        .. from command in (string[])
           [
               "PING x", "GET key:#", "SET key:# %", "SET key:# % EX 1000", "INCR ctr:#", "APPEND app:# x ; DEL app:#", "GETEX key:# EX 1000",
               "EXPIRE key:# 1000", "TTL key:#", "TYPE key:#", "EXISTS key:#", "OBJECT ENCODING key:#", "DUMP key:#", "COPY key:# copy REPLACE",
               "SET gone:# x ; GETDEL gone:#", "SCAN 0 COUNT 100", "LCS text other", "BITCOUNT bits", "SETBIT bits 70000 1", "GETBIT bits 70000",
               "BITOP XOR both bits beats", "BITOP NOT both bits", "BITFIELD field INCRBY u8 8 1", "PFADD seen m:#", "PFCOUNT seen", "PFCOUNT seen met",
               "PFMERGE merged seen met",
           ]
           select (command, Large),
        .. from command in (string[])
           [
               "HSET hl f:# %", "HGET hl f:#", "HMGET hl f:# f:# f:# f:# f:#", "HSET hl x:# % ; HDEL hl x:#", "HINCRBY counts f:# 1",
               "HSCAN hl 0 COUNT 10", "HRANDFIELD hl", "SADD sl m:#", "SISMEMBER sl m:#", "SADD sl x:# ; SREM sl x:#", "SRANDMEMBER sl",
               "SADD pops m:# ; SPOP pops", "SSCAN sl 0 COUNT 10", "LPUSH queue % ; RPOP queue", "LMOVE ll ll LEFT RIGHT", "LINDEX ll 50000",
               "LSET ll 50000 %", "LRANGE ll 0 99", "LRANGE ll 50000 50009",
           ]
           select (command, Large),
        .. from command in (string[])
           [
               "ZADD zl # m:#", "ZINCRBY zl 1 m:#", "ZSCORE zl m:#", "ZRANK zl m:#", "ZADD zl # x:# ; ZPOPMIN zl", "ZRANGE zl 0 9",
               "ZRANGE zl 50000 50009", "ZRANGEBYSCORE zl # +inf LIMIT 0 10", "ZREVRANGEBYSCORE zl # -inf LIMIT 0 10",
               "ZRANGEBYLEX lex [m:# + LIMIT 0 10", "ZCOUNT zl # +inf", "ZADD zr # x:# ; ZREMRANGEBYSCORE zr -inf #", "ZRANDMEMBER zl",
               "GEOADD gl 13.# 38.# m:#", "GEOPOS gl m:#", "GEOSEARCH gl FROMLONLAT 13.3 38.3 BYRADIUS 1 km ASC COUNT 10",
           ]
           select (command, Large),
        .. from command in (string[])
           [
               "HGETALL hm", "SMEMBERS sm", "SINTER sm sn", "SINTERCARD 2 sm sn", "SUNION sm sn", "SDIFF sn sm", "SINTERSTORE to sm sn",
               "SUNIONSTORE to sm sn", "ZADD zm # m:#", "ZUNIONSTORE to 2 zm zm", "ZINTERSTORE to 2 zm sm", "ZRANGESTORE to zm 0 -1",
               "ZDIFFSTORE to 2 zm sn", "ZINTERCARD 2 zm sm", "COPY hm to REPLACE", "COPY sm to REPLACE", "COPY zm to REPLACE", "COPY lm to REPLACE",
               "SUNIONSTORE spare sm ; SPOP spare 500", "SRANDMEMBER sm 500", "HRANDFIELD hm 500", "ZRANDMEMBER zm 500", "SORT numbers", "LINSERT lm BEFORE nothing x", "LPOS lm nothing",
           ]
           select (command, Medium),
        .. from command in (string[])
           [
               "HSET hs:# two %", "HGET hs:# two", "HGETALL hs:#", "SADD ss:# four ; SREM ss:# four", "SISMEMBER ss:# two", "SMEMBERS ss:#",
               "RPUSH turns four ; LPOP turns", "LRANGE ls:# 0 -1", "ZADD zs:# 5 two ; ZADD zs:# 2 two", "ZSCORE zs:# two",
               "ZRANGE zs:# 0 -1 WITHSCORES", "SINTER ss:# ss:#", "SUNION ss:# ss:#", "ZUNION 2 zs:# zs:#", "COPY ls:# copied:# REPLACE",
           ]
           select (command, Small),
        .. from command in (string[])
           [
               "XADD feed * job #", "XADD short MAXLEN ~ 1000 * job #", "XADD exact MAXLEN = 1000 * job #", "XRANGE xl - + COUNT 10",
               "XREVRANGE xl + - COUNT 10", "XLEN xl", "XREAD COUNT 10 STREAMS xl 0", "XREADGROUP GROUP idle me COUNT 1 STREAMS xl >",
               "XADD jobs * job # ; XREADGROUP GROUP all me COUNT 1 NOACK STREAMS jobs >", "XPENDING xl idle",
           ]
           select (command, Medium),
        .. from command in (string[])
           [
               "MULTI ; INCR ctr:# ; INCR ctr:# ; EXEC", "WATCH key:# ; UNWATCH", "EVAL return(redis.call('INCR',KEYS[1])) 1 ctr:#",
               "EVAL return(cjson.encode(cjson.decode(ARGV[1]))) 0 {\"a\":[1,2,3],\"b\":{\"c\":\"d\"}}",
               "EVAL return(cmsgpack.unpack(cmsgpack.pack(ARGV))[1]) 0 one two three", "PUBLISH nobody hello", "INFO", "INFO stats", "DBSIZE ; DBSIZE",
               "CONFIG GET maxmemory", "CLIENT ID", "MEMORY USAGE key:#",
           ]
           select (command, Medium),
    ];

    /// <summary>Makes what the cells work on.</summary>
    public static void Fill(IPEndPoint server)
    {
        foreach ((string command, long keys) in Fills) Run(server, command, keys, FillTimes);
        foreach (string group in (string[])["XGROUP CREATE xl idle $", "XGROUP CREATE jobs all $ MKSTREAM"]) Run(server, group, keys: 1, times: 1);
    }

    private static void Run(IPEndPoint server, string command, long keys, int times)
    {
        int pipeline = (int)Math.Min(keys, FillPipeline);
        Workload workload = new(command, pipeline, Cell.ValueBytes, new KeyStream(keys, KeyOrder.Uniform), check: false);
        using Generator generator = new(workload, new GeneratorSettings { Server = server, BatchesMax = keys * times / pipeline });
        Measured filled = generator.Run();
        if (filled.Errors > 0) throw new InvalidDataException($"{command}: {filled.FirstError}");
    }
}
