namespace Garnet.Migration;

/// <summary>
/// The commands of a stream of changes that a target is given: those that write data, the messages, and scripts and functions. Whatever else
/// comes is no change of data (SHUTDOWN, CONFIG, ACL …), would end the transaction that it stands in (DISCARD), or is not known, and ends the run.
/// </summary>
public static class AppliedCommands
{
    private static readonly HashSet<string> s_names = [.. Words(
        """
        APPEND BITFIELD BITOP DECR DECRBY DELEX DELIFEQ GETDEL GETEX GETSET INCR INCRBY INCRBYFLOAT INCREX MSET MSETEX MSETNX PSETEX
        SET SETBIT SETEX SETNX SETRANGE PFADD PFCOUNT PFDEBUG PFMERGE
        COPY DEL EXPIRE EXPIREAT FLUSHALL FLUSHDB MOVE PERSIST PEXPIRE PEXPIREAT RENAME RENAMENX RESTORE RESTORE-ASKING SORT SWAPDB UNLINK
        BLMOVE BLMOVEM BLMPOP BLPOP BRPOP BRPOPLPUSH LINSERT LMOVE LMOVEM LMPOP LPOP LPUSH LPUSHX LREM LSET LTRIM RPOP
        RPOPLPUSH RPUSH RPUSHX
        SADD SDIFFSTORE SINTERSTORE SMOVE SPOP SREM SUNIONSTORE
        BZMPOP BZPOPMAX BZPOPMIN GEOADD GEORADIUS GEORADIUSBYMEMBER GEOSEARCHSTORE ZADD ZDIFFSTORE ZINCRBY ZINTERSTORE ZMPOP ZPOPMAX
        ZPOPMIN ZRANGESTORE ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE ZUNIONSTORE
        HDEL HEXPIRE HEXPIREAT HGETDEL HGETEX HIMPORT HINCRBY HINCRBYFLOAT HMSET HPERSIST HPEXPIRE HPEXPIREAT HSET HSETEX HSETNX
        XACK XACKDEL XADD XAUTOCLAIM XCFGSET XCLAIM XDEL XDELEX XGROUP XIDMPRECORD XNACK XREADGROUP XSETID XTRIM
        ARDEL ARDELRANGE ARINSERT ARMSET ARNEXT ARRING ARSEEK ARSET VADD VREM VSETATTR
        PUBLISH SPUBLISH EVAL EVALSHA FCALL
        """)];

    private static readonly HashSet<string> s_ofFunction = [.. Words("DELETE FLUSH LOAD RESTORE")], s_ofScript = [.. Words("FLUSH LOAD")];

    /// <summary>True for one that is applied. <paramref name="name"/>, and the word behind it, in capitals.</summary>
    public static bool Has(string name, string next) => name switch
    {
        "FUNCTION" => s_ofFunction.Contains(next),
        "SCRIPT" => s_ofScript.Contains(next),
        _ => s_names.Contains(name),
    };

    private static string[] Words(string text) => text.Split((char[])[' ', '\n', '\r'], StringSplitOptions.RemoveEmptyEntries);
}
