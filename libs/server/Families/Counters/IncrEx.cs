using System.Globalization;
using System.Text;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Counters;
using Garnet.Types.Keys;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Counters;

/// <summary>Adds within bounds and sets an expiry, in one step. What is logged is the sum and the expiry.</summary>
internal readonly unsafe struct IncrEx : ICommand
{
    public static CommandSpec Spec => CounterCommands.Spec("INCREX", -2, "key [BYFLOAT increment | BYINT increment] [LBOUND lowerbound] [UBOUND upperbound] [SATURATE] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] [ENX]", "Adds to the number under a key within bounds, and sets its expiry; a missing key counts as 0.") with { Event = CounterCommands.Added, Since = "8.8.0" };

    public static Reply Run(ref Call call)
    {
        var options = new IncrExOptions();
        if (!options.TryParse(ref call, out Reply failed))
            return failed;
        KeyRef key = call.Key;
        Span<byte> room = stackalloc byte[ExtendedFloat.TextBytesMax];
        call.Session.Room.Ensure(0);
        call.Session.Lock([key]);
        Reply reply = RunLocked(ref call, in key, options, room);
        call.Session.Unlock();
        return reply;
    }

    private static Reply RunLocked(ref Call call, in KeyRef key, in IncrExOptions options, scoped Span<byte> room)
    {
        var look = new NumberLook(room);
        bool exists = call.Session.Read(in key, ref look) == Outcome.Done;
        if (exists && look.WrongKind)
            return call.Fail(Fault.WrongType);
        scoped ReadOnlySpan<byte> before = exists ? room[..Math.Min(look.Length, room.Length)] : "0"u8;
        var step = new CounterStep();
        Fault? fault = look.Length > room.Length ? (options.IsFloat ? Fault.NotAFloat : Fault.NotAnInteger)
            : options.IsFloat ? step.AddFloat(ref call, before, options) : step.AddInteger(ref call, before, options);
        if (fault is { } failed)
            return call.Fail(failed);
        if (step.IsRefused)
            return step.Answer(ref call, options.IsFloat);
        Outcome outcome = Put(ref call, in key, step.Sum, options, look.ExpireAtMs);
        return outcome == Outcome.Done ? step.Answer(ref call, options.IsFloat) : call.From(outcome);
    }

    private static Outcome Put(ref Call call, in KeyRef key, ReadOnlySpan<byte> sum, in IncrExOptions options, long expireAtMs)
    {
        fixed (byte* value = sum)
        {
            var set = new SetValue { Value = value, Length = sum.Length, KeepExpiry = true };
            Outcome outcome = call.Session.Modify(in key, ref set);
            if (outcome != Outcome.Done || !options.ChangesExpiry || (options.OnlyWithout && expireAtMs != 0)
                || (options.ExpireAtMs == 0 && expireAtMs == 0))
                return outcome;
        }

        var expire = new ChangeExpiry { ExpireAtMs = options.ExpireAtMs, NowMs = call.NowMs };
        call.Session.Modify(in key, ref expire);
        return Outcome.Done;
    }
}

/// <summary>A sum within bounds, as text, and what was added.</summary>
internal ref struct CounterStep
{
    /// <summary>The new value, or the old one if the sum was out of bounds.</summary>
    internal byte[] Sum;
    private byte[] _added;

    /// <summary>The sum is out of bounds: nothing changes.</summary>
    internal bool IsRefused { get; private set; }

    /// <summary>Adds; null, or what is wrong.</summary>
    internal Fault? AddInteger(ref Call call, scoped ReadOnlySpan<byte> before, in IncrExOptions options)
    {
        long by = 1, low = long.MinValue, high = long.MaxValue;
        bool areNumbers = (options.ByAt == 0 || call.TryInt64(options.ByAt, out by))
            && (options.LowAt == 0 || call.TryInt64(options.LowAt, out low))
            && (options.HighAt == 0 || call.TryInt64(options.HighAt, out high));
        if (!areNumbers || !NumberText.TryInt64(before, out long old))
            return Fault.NotAnInteger;
        if (low > high)
            return Fault.Syntax;
        Int128 sum = (Int128)old + by;
        IsRefused = (sum < low || sum > high) && !options.Saturates;
        sum = IsRefused ? old : Int128.Clamp(sum, low, high);
        Int128 added = sum - old;
        if (added < long.MinValue || added > long.MaxValue)
            return Fault.IncrementOverflow;
        (Sum, _added) =
            (Text(((long)sum).ToString(CultureInfo.InvariantCulture)), Text(((long)added).ToString(CultureInfo.InvariantCulture)));
        return null;
    }

    /// <summary>Adds; null, or what is wrong.</summary>
    internal Fault? AddFloat(ref Call call, scoped ReadOnlySpan<byte> before, in IncrExOptions options)
    {
        ExtendedFloat low = default, high = default;
        bool areNumbers =
            ExtendedFloat.TryParse(before, out ExtendedFloat old) & ExtendedFloat.TryParse(call[options.ByAt], out ExtendedFloat by);
        areNumbers &= (options.LowAt == 0 || (ExtendedFloat.TryParse(call[options.LowAt], out low) && low.IsFinite))
            && (options.HighAt == 0 || (ExtendedFloat.TryParse(call[options.HighAt], out high) && high.IsFinite));
        if (!areNumbers)
            return Fault.NotAFloat;
        if (options.LowAt > 0 && options.HighAt > 0 && ExtendedFloat.Compare(low, high) > 0)
            return Fault.Syntax;
        if (!ExtendedFloat.TryAdd(old, by, out ExtendedFloat sum))
            return Fault.IncrementNotFinite;
        bool isLow = options.LowAt > 0 && ExtendedFloat.Compare(sum, low) < 0;
        bool isHigh = options.HighAt > 0 && ExtendedFloat.Compare(sum, high) > 0;
        IsRefused = (isLow || isHigh) && !options.Saturates;
        ExtendedFloat next = IsRefused ? old : isLow ? low : isHigh ? high : sum;
        ExtendedFloat added = by;
        if ((isLow || isHigh) && !ExtendedFloat.TrySubtract(next, old, out added))
            return Fault.IncrementNotFinite;
        (Sum, _added) = (Text(next), Text(added));
        return null;
    }

    /// <summary>Replies the value and what was added to it.</summary>
    internal readonly Reply Answer(ref Call call, bool isFloat)
    {
        call.Out.Array(2);
        foreach (byte[] number in (ReadOnlySpan<byte[]>)[Sum, _added])
        {
            if (!isFloat)
                call.Out.Int(long.Parse(number, CultureInfo.InvariantCulture));
            else if (call.Out.Resp3)
                call.Out.Double(double.Parse(number, CultureInfo.InvariantCulture));
            else
                call.Out.Bulk(number);
        }

        return Reply.Sent;
    }

    private static byte[] Text(string number) => Encoding.ASCII.GetBytes(number);

    private static byte[] Text(ExtendedFloat number)
    {
        byte[] room = new byte[ExtendedFloat.TextBytesMax];
        return room[..number.Write(room)];
    }
}

/// <summary>The options of INCREX; numbers by the argument they stand in, 0 for none.</summary>
internal ref struct IncrExOptions
{
    internal int ByAt;
    internal int LowAt;
    internal int HighAt;
    internal bool IsFloat;
    internal bool Saturates;
    /// <summary>Only a key without an expiry gets one.</summary>
    internal bool OnlyWithout;
    internal bool ChangesExpiry;
    /// <summary>The expiry to set, 0 for none.</summary>
    internal long ExpireAtMs;

    internal bool TryParse(ref Call call, out Reply failed)
    {
        var times = new StringOptions(StringOption.Expire | StringOption.Persist);
        for (int i = 2; i < call.Count; i++)
        {
            if (TryNumber(ref call, ref i) || TryFlag(ref call, i) || times.TryTake(ref call, ref i))
                continue;
            failed = call.Fail(Fault.Syntax);
            return false;
        }

        failed = Reply.Failed;
        if (OnlyWithout && !times.HasExpiry)
        {
            call.Fail(Fault.Syntax);
            return false;
        }

        bool isGood = times.TryExpiry(ref call, out failed);
        ChangesExpiry = times.HasExpiry || times.Persist;
        ExpireAtMs = times.ExpireAtMs;
        return isGood;
    }

    private bool TryNumber(ref Call call, ref int i)
    {
        if (i + 1 == call.Count)
            return false;
        if (LowAt == 0 && call.Is(i, "LBOUND"u8))
        {
            LowAt = ++i;
            return true;
        }

        if (HighAt == 0 && call.Is(i, "UBOUND"u8))
        {
            HighAt = ++i;
            return true;
        }

        bool isFloat = call.Is(i, "BYFLOAT"u8);
        if (ByAt > 0 || !(isFloat || call.Is(i, "BYINT"u8)))
            return false;
        IsFloat = isFloat;
        ByAt = ++i;
        return true;
    }

    private bool TryFlag(ref Call call, int i)
    {
        bool isEnx = call.Is(i, "ENX"u8), saturates = call.Is(i, "SATURATE"u8);
        OnlyWithout |= isEnx;
        Saturates |= saturates;
        return isEnx || saturates;
    }
}
