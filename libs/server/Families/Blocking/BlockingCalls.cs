using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Blocking;

/// <summary>What the commands that wait for keys share.</summary>
internal static class BlockingCalls
{
    /// <summary>Reads a time in seconds, 0 for ever, and says when it ends; on false the error has been written.</summary>
    internal static bool TryUntil(ref Call call, int index, out long untilMs, out Reply failed)
    {
        untilMs = long.MaxValue;
        failed = Reply.Failed;
        if (!TrySeconds(call[index], out double seconds))
        {
            call.FailBytes("ERR timeout is not a float or out of range"u8);
            return false;
        }

        double milliseconds = Math.Ceiling(seconds * 1000);
        if (milliseconds is < 0 or >= long.MaxValue) // Redis: what does not fit is negative
        {
            call.Fail(Fault.TimeoutNegative);
            return false;
        }

        failed = Reply.Sent;
        if (milliseconds > 0)
            untilMs = milliseconds >= long.MaxValue - call.NowMs ? long.MaxValue : call.NowMs + (long)milliseconds;
        return true;
    }

    // Redis reads a long double here: what is too large for ours is in its range, and what is too small is not yet zero.
    private static bool TrySeconds(ReadOnlySpan<byte> text, out double seconds)
    {
        if (NumberText.TryDouble(text, out seconds))
            return true;
        if (text.IsEmpty || text[0] <= ' ' || !NumberText.TryLoose(text, out seconds))
            return false;
        if (seconds == 0 && !double.IsNegative(seconds))
            seconds = double.Epsilon;
        return true;
    }

    /// <summary>Waits for one of so many keys; a target stands behind its source.</summary>
    internal static unsafe Reply Wait(ref Call call, KeyWait wait, int firstKey, int keys, long untilMs)
    {
        int all = wait.Target is null ? keys : keys + 1;
        wait.Command = new KeptCommand(call.Client.LastCommand, call.Args, call.Count);
        KeyRef[] rented = ManyCommands.Rent(ref call, firstKey, 1, all);
        Reply reply = call.Worker.Ready.Wait(call.Client, wait, rented.AsSpan(0, all), untilMs);
        ManyCommands.Return(rented);
        return reply;
    }

    /// <summary>Takes from the first key that is there, or waits for one.</summary>
    internal static Reply Take<T>(ref Call call, int firstKey, int keys, T take, long untilMs) where T : struct, ITake
    {
        if (!MustQueue(ref call, firstKey, keys))
        {
            if (TryTake(ref call, take, firstKey, keys, out Reply reply))
                return reply;
        }
        else if (!AreOfKind(ref call, firstKey, keys, take.Kind))
        {
            return Reply.Failed;
        }

        if (call.MayPark)
            return BlockingCalls.Wait(ref call, new KeyWait<T>(take) { Client = call.Client }, firstKey, keys, untilMs);
        call.Out.NullArray();
        return Reply.Sent;
    }

    /// <summary>Takes from the first of the keys that is there, all of them locked, or replies an error; false if none is there.</summary>
    internal static bool TryTake<T>(ref Call call, T take, int firstKey, int keys, out Reply reply) where T : struct, ITake
    {
        if (keys == 1)
            return take.TryTake(ref call, firstKey, out reply);
        KeyRef[] rented = ManyCommands.Rent(ref call, firstKey, 1, keys);
        call.Session.Lock(rented.AsSpan(0, keys));
        bool took = false;
        reply = Reply.Sent;
        for (int i = firstKey; i < firstKey + keys && !took; i++)
            took = take.TryTake(ref call, i, out reply);
        call.Session.Unlock();
        ManyCommands.Return(rented);
        return took;
    }

    /// <summary>True if others wait for one of the keys already: the command has to join their queues (blocking.B3).</summary>
    internal static bool MustQueue(ref Call call, int firstKey, int keys)
    {
        WaitTable waits = call.Server.Observers.Waits;
        if (waits.Count == 0 || !call.MayPark)
            return false;
        for (int i = firstKey; i < firstKey + keys; i++)
        {
            if (waits.Has(call.Client.Database, call[i], call.HashAt(i)))
                return true;
        }

        return false;
    }

    /// <summary>Looks whether the first key that is there is of the kind; false: it is not, and the error has been written.</summary>
    internal static bool AreOfKind(ref Call call, int firstKey, int keys, RecordKind kind)
    {
        KeyRef[] rented = ManyCommands.Rent(ref call, firstKey, 1, keys);
        call.Session.Lock(rented.AsSpan(0, keys));
        var look = default(CountLook);
        for (int i = 0; i < keys && look.Kind == RecordKind.None; i++)
            call.Session.Examine(in rented[i], ref look, quiet: true);
        call.Session.Unlock();
        ManyCommands.Return(rented);
        bool isOther = look.Kind != RecordKind.None && look.Kind != kind;
        if (isOther)
            call.Fail(Fault.WrongType);
        return !isOther;
    }
}
