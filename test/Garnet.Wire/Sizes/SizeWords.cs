namespace Garnet.Wire.Sizes;

/// <summary>
/// Every command of the data groups with an argument, or a stored value, whose size is to be chosen: a word that begins with @ stands for so
/// many bytes, distinct by what follows it. Before the commands of a family its keys are made anew.
/// </summary>
internal static class SizeWords
{
    /// <summary>Families: what is stored first, then the commands.</summary>
    public static readonly (string Name, string[] Stored, string[] Commands)[] Families =
    [
        ("strings", ["SET s @", "SET t @t", "SET n 1"],
        [
            "GET s", "STRLEN s", "GETRANGE s 0 -1", "SUBSTR s 1 -1", "MGET s s s s", "GETEX s EX 1000", "DIGEST s", "SET s @2", "SET s @2 XX GET", "SETNX m1 @", "SETEX s 1000 @", "PSETEX s 1000000 @",
            "GETSET s @3", "APPEND s @", "SETRANGE s 1 @", "MSET s @ t @t", "MSETNX x1 @ x2 @", "MSETEX 2 s @ t @ EX 1000", "INCR s", "INCRBY s 1", "INCRBYFLOAT s 1", "DECR s", "DECRBY s 1", "INCR @", "SET @ v", "GET @", "INCRBY n @",
            "INCREX n BYINT 1", "DELEX s IFEQ @", "GETDEL t", "DELIFEQ s @", "SET s @", "DELIFGREATER s 1", "SETIFMATCH s @ 1", "SETIFGREATER s @ 1", "SETWITHETAG s @", "GETWITHETAG s", "GETIFNOTMATCH s 1",
        ]),
        ("bits", ["SET s @", "SET t @t"],
        [
            "SETBIT s 100000 1", "GETBIT s 1", "BITCOUNT s", "BITPOS s 1", "BITFIELD s SET u8 0 255 GET u8 1", "BITFIELD_RO s GET u8 0", "BITOP AND d s t", "BITOP NOT d s", "BITOP XOR s s t", "SETBIT @ 1 1", "BITFIELD s GET @ 0",
            "PFADD p @ @2", "PFADD s x", "PFCOUNT p s", "PFCOUNT p", "PFMERGE q p",
        ]),
        ("keys", ["SET s @", "RPUSH l a @ b @2"],
        [
            "DUMP s", "DUMP l", "EXISTS s l", "TYPE s", "TTL s", "PTTL s", "TOUCH s", "OBJECT ENCODING l", "KEYS *", "KEYS @", "SCAN 0 COUNT 100", "SCAN 0 MATCH @", "RANDOMKEY", "EXPIRE s 1000", "PEXPIRE l 1000000", "EXPIREAT s 1900000000",
            "PEXPIREAT s 1900000000000", "EXPIRETIME s", "PEXPIRETIME s", "PERSIST s", "COPY s c", "COPY l c REPLACE", "RENAME c d", "RENAMENX d e", "MOVE e 1", "RESTORE r 0 @", "SORT l ALPHA STORE o", "SORT l ALPHA LIMIT 0 1", "SORT_RO l BY nosort GET # GET s",
            "SORT l BY nosort GET # GET @", "DEL o", "UNLINK l", "DBSIZE", "RENAME s @", "SWAPDB 1 2",
        ]),
        ("lists", ["RPUSH l a @ b @2 c"],
        [
            "RPUSH l @", "LPUSH l @", "RPUSHX l @ @2", "LPUSHX l @", "LLEN l", "LRANGE l 0 -1", "LINDEX l 1", "LPOS l @", "LINSERT l BEFORE b @", "LSET l 0 @", "LREM l 1 @", "LMOVE l k LEFT RIGHT", "LMOVE l k RIGHT LEFT", "LMOVE l l LEFT RIGHT", "RPOPLPUSH l k",
            "BLMOVE l k LEFT RIGHT 1", "BRPOPLPUSH l k 1", "LPOP k", "RPOP k", "RPUSH k @", "LMPOP 1 k LEFT", "RPUSH k @", "BLPOP k 1", "RPUSH k @", "BRPOP k 1", "RPUSH k @ @", "BLMPOP 1 1 k LEFT COUNT 5", "LTRIM l 0 2", "RPUSH @ v", "LPOP l 10",
        ]),
        ("hashes", ["HSET h a @ @f v b 1"],
        [
            "HSET h c @", "HSET h @g @", "HMSET h c @", "HSETNX h d @", "HGET h a", "HGET h @f", "HMGET h a @f c", "HGETALL h", "HKEYS h", "HVALS h", "HLEN h", "HEXISTS h @f", "HSTRLEN h a", "HRANDFIELD h 3 WITHVALUES", "HSCAN h 0", "HSCAN h 0 MATCH @", "HINCRBY h b 1",
            "HINCRBY h a 1", "HINCRBYFLOAT h b 1.5", "HINCRBY h @n 1", "HEXPIRE h 1000 FIELDS 2 a @f", "HPEXPIRE h 1000000 FIELDS 1 a", "HEXPIREAT h 1900000000 FIELDS 1 @f", "HPEXPIREAT h 1900000000000 FIELDS 1 a", "HTTL h FIELDS 1 @f", "HPTTL h FIELDS 1 a",
            "HEXPIRETIME h FIELDS 1 a", "HPEXPIRETIME h FIELDS 1 a", "HPERSIST h FIELDS 2 a @f", "HGETEX h EX 1000 FIELDS 2 a @f", "HSETEX h EX 1000 FIELDS 1 @e @", "HGETDEL h FIELDS 2 a @f", "HDEL h @g c", "HSET @ f v",
        ]),
        ("sets", ["SADD u a @ b", "SADD v @ c @v"],
        [
            "SADD u @2 @3", "SADD u 1 2 3", "SCARD u", "SISMEMBER u @", "SMISMEMBER u a @", "SMEMBERS u", "SRANDMEMBER u 5", "SRANDMEMBER u -5", "SSCAN u 0", "SINTER u v", "SUNION u v", "SDIFF u v", "SINTERCARD 2 u v", "SINTERSTORE d u v", "SUNIONSTORE d u v",
            "SDIFFSTORE d u v", "SUNIONCARD 2 u v", "SDIFFCARD 2 u v", "SMOVE u v @2", "SREM u @", "SPOP v", "SPOP v 2", "SADD @ m",
        ]),
        ("sorted sets", ["ZADD z 1 a 2 @ 3 b", "ZADD y 1 @ 5 @y"],
        [
            "ZADD z 4 @2", "ZADD z INCR 1 @2", "ZADD z @ m", "ZINCRBY z 1 @", "ZCARD z", "ZCOUNT z -inf +inf", "ZLEXCOUNT z [a [@", "ZSCORE z @", "ZMSCORE z a @", "ZRANK z @", "ZREVRANK z @", "ZRANGE z 0 -1 WITHSCORES", "ZREVRANGE z 0 -1", "ZRANGEBYSCORE z -inf +inf",
            "ZREVRANGEBYSCORE z +inf -inf", "ZRANGEBYLEX z - [@", "ZREVRANGEBYLEX z [@ -", "ZRANDMEMBER z 3 WITHSCORES", "ZSCAN z 0", "ZUNION 2 z y WITHSCORES", "ZINTER 2 z y", "ZDIFF 2 z y", "ZINTERCARD 2 z y", "ZUNIONSTORE d 2 z y", "ZINTERSTORE d 2 z y",
            "ZDIFFSTORE d 2 z y", "ZRANGESTORE d z 0 -1", "ZMPOP 1 d MIN", "ZADD d 1 @", "BZMPOP 1 1 d MIN", "ZADD d 1 @", "BZPOPMIN d 1", "ZADD d 1 @", "BZPOPMAX d 1", "ZEXPIRE z 1000 MEMBERS 1 @", "ZPEXPIRE z 1000000 MEMBERS 1 a", "ZEXPIREAT z 1900000000 MEMBERS 1 @",
            "ZPEXPIREAT z 1900000000000 MEMBERS 1 @", "ZTTL z MEMBERS 1 @", "ZPTTL z MEMBERS 1 @", "ZEXPIRETIME z MEMBERS 1 @", "ZPEXPIRETIME z MEMBERS 1 @", "ZPERSIST z MEMBERS 1 @", "ZCOLLECT z", "ZREM z @2", "ZREMRANGEBYRANK z 0 0", "ZREMRANGEBYSCORE z 1 1",
            "ZREMRANGEBYLEX z [a [b", "ZPOPMIN z", "ZPOPMAX z 2",
        ]),
        ("geo", ["GEOADD g 13 38 a 14 39 @"],
        [
            "GEOADD g 13 38 @2", "GEOADD g 13 38 @ 15 37 @3 16 36 @4", "GEOPOS g @", "GEODIST g a @", "GEOHASH g @", "GEOSEARCH g FROMMEMBER @ BYRADIUS 900 km WITHDIST", "GEOSEARCHSTORE d g FROMLONLAT 13 38 BYRADIUS 900 km", "GEORADIUS g 13 38 900 km STORE d",
            "GEORADIUS_RO g 13 38 900 km", "GEORADIUSBYMEMBER g @ 900 km", "GEORADIUSBYMEMBER_RO g @ 900 km",
        ]),
        ("streams", ["XADD x 1-1 f @", "XGROUP CREATE x g 0", "XADD x 2-1 @f v"],
        [
            "XADD x * f @", "XADD x * @f @", "XADD x MAXLEN 10 * f @", "XLEN x", "XRANGE x - +", "XREVRANGE x + -", "XREAD STREAMS x 0", "XREADGROUP GROUP g c STREAMS x >", "XREADGROUP GROUP g c STREAMS x 0", "XREADGROUP GROUP g @ STREAMS x >", "XPENDING x g",
            "XPENDING x g - + 10", "XCLAIM x g d 0 1-1", "XCLAIM x g @ 0 1-1", "XAUTOCLAIM x g e 0 0", "XAUTOCLAIM x g @ 0 0", "XINFO STREAM x FULL", "XINFO GROUPS x", "XINFO CONSUMERS x g", "XGROUP CREATE x @ 0", "XGROUP CREATECONSUMER x g @", "XGROUP DELCONSUMER x g @",
            "XGROUP SETID x g 0", "XGROUP DESTROY x @", "XACK x g 1-1", "XACKDEL x g IDS 1 2-1", "XNACK x g SILENT IDS 1 1-1", "XSETID x 9999999999999-1", "XDEL x 1-1", "XDELEX x IDS 1 2-1", "XTRIM x MAXLEN 1", "XCFGSET x DURATION 100", "XADD x IDMP p @ * f v",
        ]),
        ("scripting and messages", ["SET s @"],
        [
            "ECHO @", "PUBLISH c @", "SPUBLISH c @", "PUBLISH @ m", "SCRIPT LOAD @", "SCRIPT EXISTS @", "EVALSHA @ 0", "FUNCTION LOAD @", "FCALL @ 0", "OBJECT HELP", "CLIENT SETNAME @", "CONFIG GET @", "CONFIG SET @ 1", "MEMORY USAGE s", "DEBUG OBJECT s", "WAITAOF 0 0 0", "@ a b", "LCS s s LEN",
        ]),
    ];
}
