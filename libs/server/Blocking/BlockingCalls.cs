using Garnet.Common.Bytes;
using Garnet.Server.Commands;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Blocking;

/// <summary>What the commands that wait for keys share.</summary>
internal static class BlockingCalls
{
    /// <summary>Reads a time in seconds, 0 for ever, and says when it ends; on false the error has been written.</summary>
    internal static bool TryUntil(ref Call call, int index, out long untilMs, out Reply failed)
    {
        untilMs = long.MaxValue;
        failed = Reply.Failed;
        if (!NumberText.TryDouble(call[index], out double seconds))
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
            return call.Reactor.Ready.Wait(ref call, new KeyWait<T>(take) { Client = call.Client }, firstKey, keys, untilMs);
        call.Out.NullArray();
        return Reply.Sent;
    }

    /// <summary>Takes from the first of the keys that is there, or replies an error; false if none is there.</summary>
    internal static bool TryTake<T>(ref Call call, T take, int firstKey, int keys, out Reply reply) where T : struct, ITake
    {
        for (int i = firstKey; i < firstKey + keys; i++)
        {
            if (take.TryTake(ref call, i, out reply))
                return true;
        }

        reply = Reply.Sent;
        return false;
    }

    /// <summary>True if others wait for one of the keys already: the command has to join their queues (B3).</summary>
    internal static bool MustQueue(ref Call call, int firstKey, int keys)
    {
        WaitTable waits = call.Server.Waits;
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
        for (int i = firstKey; i < firstKey + keys; i++)
        {
            KeyRef key = call.KeyAt(i);
            var look = default(CountLook);
            if (call.Store.Examine(in key, ref look, quiet: true) != Outcome.Done)
                continue;
            if (look.Kind != kind)
                call.Fail(Fault.WrongType);
            return look.Kind == kind;
        }

        return true;
    }
}
