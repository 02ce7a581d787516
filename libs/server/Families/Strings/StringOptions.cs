using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Strings;

namespace Garnet.Server.Families.Strings;

/// <summary>Options of the SET family; which of them a command knows is its own choice.</summary>
[Flags]
internal enum StringOption
{
    None = 0,
    Exists = 1,
    Compare = 2,
    Get = 4,
    Expire = 8,
    KeepTtl = 16,
    Persist = 32,
    AnySet = Exists | Compare | Get | Expire | KeepTtl,
}

/// <summary>Reads NX, XX, GET, EX and the rest in any order, refusing what does not go together, as Redis does.</summary>
internal unsafe ref struct StringOptions(StringOption allowed)
{
    private int _expireArg;
    private ExpireUnit _unit;

    internal SetCondition Condition;
    internal byte* Operand;
    internal int OperandLength;
    internal bool ReturnsOld;
    internal bool KeepExpiry;
    internal bool Persist;
    internal long ExpireAtMs;

    /// <summary>True if one of EX, PX, EXAT, PXAT was given.</summary>
    internal readonly bool HasExpiry => _expireArg != 0;

    /// <summary>Reads the arguments from <paramref name="first"/> to the end; on false the error has been written.</summary>
    internal bool TryParse(ref Call call, int first, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = first; i < call.Count; i++)
        {
            if (TryTake(ref call, ref i))
                continue;
            failed = call.Fail(Fault.Syntax);
            return false;
        }

        return true;
    }

    /// <summary>Reads one option, the index goes to its last argument; false if it is none of these.</summary>
    internal bool TryTake(ref Call call, ref int i)
    {
        if (TryFlag(ref call, i))
            return true;
        if (i + 1 >= call.Count || !(TryExpire(ref call, i) || TryCompare(ref call, i)))
            return false;
        i++;
        return true;
    }

    private enum ExpireUnit
    {
        None,
        Seconds,
        Milliseconds,
        UnixSeconds,
        UnixMilliseconds,
    }

    private bool TryFlag(ref Call call, int i)
    {
        if ((allowed & StringOption.Exists) != 0 && call.Is(i, "NX"u8))
            return TryCondition(SetCondition.IfAbsent);
        if ((allowed & StringOption.Exists) != 0 && call.Is(i, "XX"u8))
            return TryCondition(SetCondition.IfPresent);
        if ((allowed & StringOption.Get) != 0 && call.Is(i, "GET"u8))
            return ReturnsOld = true;
        if ((allowed & StringOption.KeepTtl) != 0 && call.Is(i, "KEEPTTL"u8) && _expireArg == 0)
            return KeepExpiry = true;
        if ((allowed & StringOption.Persist) != 0 && call.Is(i, "PERSIST"u8) && _expireArg == 0)
            return Persist = true;
        return false;
    }

    private bool TryCondition(SetCondition condition)
    {
        if (Condition != SetCondition.Always && Condition != condition)
            return false;
        Condition = condition;
        return true;
    }

    private bool TryCompare(ref Call call, int i)
    {
        if ((allowed & StringOption.Compare) == 0 || Condition != SetCondition.Always)
            return false;
        SetCondition condition = call.Is(i, "IFEQ"u8) ? SetCondition.IfEqual
            : call.Is(i, "IFNE"u8) ? SetCondition.IfNotEqual
            : call.Is(i, "IFDEQ"u8) ? SetCondition.IfDigestEqual
            : call.Is(i, "IFDNE"u8) ? SetCondition.IfDigestNotEqual
            : SetCondition.Always;
        if (condition == SetCondition.Always)
            return false;
        Condition = condition;
        Operand = call.Args[i + 1].Bytes;
        OperandLength = call.Args[i + 1].Length;
        return true;
    }

    private bool TryExpire(ref Call call, int i)
    {
        if ((allowed & StringOption.Expire) == 0 || KeepExpiry || Persist)
            return false;
        ExpireUnit unit = call.Is(i, "EX"u8) ? ExpireUnit.Seconds
            : call.Is(i, "PX"u8) ? ExpireUnit.Milliseconds
            : call.Is(i, "EXAT"u8) ? ExpireUnit.UnixSeconds
            : call.Is(i, "PXAT"u8) ? ExpireUnit.UnixMilliseconds
            : ExpireUnit.None;
        if (unit == ExpireUnit.None || (_unit != ExpireUnit.None && _unit != unit))
            return false;
        _unit = unit; // the same word again is allowed, the last one counts
        _expireArg = i + 1;
        return true;
    }

    /// <summary>Works the expiry out, if one was given; on false the error has been written.</summary>
    internal bool TryExpiry(ref Call call, out Reply failed)
    {
        failed = Reply.Sent;
        if (_expireArg == 0)
            return true;
        if (!call.TryInt64(_expireArg, out long time))
        {
            failed = call.Fail(Fault.NotAnInteger);
            return false;
        }

        if (ExpiryTime.TryAbsolute(time, _unit is ExpireUnit.Seconds or ExpireUnit.UnixSeconds, _unit >= ExpireUnit.UnixSeconds, call.NowMs,
            out ExpireAtMs))
            return true;
        failed = ExpiryTime.Refuse(ref call);
        return false;
    }
}
