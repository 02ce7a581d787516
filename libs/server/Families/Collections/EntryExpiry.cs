using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Collections;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>What the commands on the expiry of single entries do, for fields of a hash as for members of a sorted set.</summary>
internal static class EntryExpiry
{
    /// <summary>Later times do not fit Redis's encoding: 48 bits of milliseconds.</summary>
    internal const long ExpireAtMsMax = (1L << 48) - 2;

    /// <summary>HEXPIRE, ZEXPIRE and their relatives.</summary>
    internal static Reply Expire(ref Call call, EntryWords words, bool inSeconds, bool absolute)
    {
        if (!IsKind(ref call, words, out Reply failed))
            return failed;
        if (!call.TryInt64(2, out long time))
            return call.Fail(Fault.NotAnInteger);
        if (time < 0)
            return call.FailBytes("ERR invalid expire time, must be >= 0"u8);
        if ((inSeconds && time > ExpireAtMsMax / 1000)
            || (time = inSeconds ? time * 1000 : time) > ExpireAtMsMax - (absolute ? 0 : call.NowMs))
            return ExpiryTime.Refuse(ref call);
        ExpireCondition condition = call.Is(3, "NX"u8) ? ExpireCondition.IfNone : call.Is(3, "XX"u8) ? ExpireCondition.IfAny
            : call.Is(3, "GT"u8) ? ExpireCondition.IfLater : call.Is(3, "LT"u8) ? ExpireCondition.IfEarlier : ExpireCondition.Always;
        int at = condition == ExpireCondition.Always ? 3 : 4;
        if (!EntryList.TryRead(ref call, words, at, words.BadNumber, out EntryList entries, out failed))
            return failed;
        return Retime(ref call, words, entries, Math.Max(absolute ? time : time + call.NowMs, 1), condition);
    }

    /// <summary>HPERSIST, ZPERSIST.</summary>
    internal static Reply Persist(ref Call call, EntryWords words)
    {
        if (!IsKind(ref call, words, out Reply failed)
            || !EntryList.TryRead(ref call, words, 2, words.BadAskedNumber, out EntryList entries, out failed))
            return failed;
        return Retime(ref call, words, entries, 0, ExpireCondition.Always);
    }

    /// <summary>HTTL, ZTTL and their relatives.</summary>
    internal static Reply Tell(ref Call call, EntryWords words, bool inSeconds, bool absolute)
    {
        if (!IsKind(ref call, words, out Reply failed)
            || !EntryList.TryRead(ref call, words, 2, words.BadAskedNumber, out EntryList entries, out failed))
            return failed;
        var answers = new long[entries.Count];
        System.Array.Fill(answers, EntryTimes.NotThere);
        var look = new TimesLook(words.Shape, entries.Of(ref call), answers, inSeconds, absolute);
        CollectionCalls.Examine(ref call, ref look);
        return look.WrongKind ? call.Fail(Fault.WrongType) : Show(ref call, answers);
    }

    /// <summary>False, and the error written, if the key holds something of another kind, which comes before all other errors.</summary>
    internal static bool IsKind(ref Call call, EntryWords words, out Reply failed)
    {
        var kind = default(CountLook);
        bool isOther = CollectionCalls.Examine(ref call, ref kind, quiet: true) != Outcome.NotFound && kind.Kind != words.Shape.Kind;
        failed = isOther ? call.Fail(Fault.WrongType) : Reply.Sent;
        return !isOther;
    }

    /// <summary>
    /// Gives entries another time, all of them or none: looks which it concerns, has <paramref name="look"/> look at what they hold, under the same lock, and changes them.
    /// </summary>
    /// <param name="call">The call.</param>
    /// <param name="times">The change.</param>
    /// <param name="look">Looks at the entries, under the lock, before they change; once it is known that there is room.</param>
    /// <param name="looked">The key is there, and <paramref name="look"/> has looked.</param>
    internal static Outcome Retime<T>(ref Call call, scoped ref EntryTimes times, ref T look, out bool looked)
        where T : struct, IExamine
    {
        looked = false;
        using WriteRoom room = RoomFor(ref call, in times);
        if (!room.IsThere)
            return Outcome.OutOfMemory;
        // What changes is written anew, and what it lies in, which may be much more than the call brings: a part of it is done by the time memory lacks.
        using StepRoom.Assurance assured = call.Session.Room.Assure();
        KeyRef key = call.Key;
        try
        {
            call.Session.Lock([key]);
            call.Session.Examine(in key, ref times, quiet: true);
            Outcome outcome = Outcome.OutOfMemory;
            if (!times.LacksRoom)
            {
                looked = call.Session.Examine(in key, ref look) == Outcome.Done;
                outcome = times.Apply(call.Session, in key);
            }

            call.Session.Unlock();
            call.Server.EntryReaper.Wake(in key, times.Removes ? 0 : times.ExpireAtMs);
            return outcome == Outcome.Unchanged ? Outcome.Done : outcome;
        }
        finally
        {
            times.Chosen.Free(); // collections.Q1: also where it is put off between the looks
        }
    }

    private static Reply Retime(ref Call call, EntryWords words, in EntryList entries, long expireAtMs, ExpireCondition condition)
    {
        var answers = new long[entries.Count];
        System.Array.Fill(answers, EntryTimes.NotThere);
        var times = new EntryTimes(words.Shape, entries.Of(ref call), answers) { ExpireAtMs = expireAtMs, Condition = condition };
        var counted = default(CountLook); // as a hit or a miss
        Outcome outcome = Retime(ref call, ref times, ref counted, out _);
        if (times.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome == Outcome.Done ? Show(ref call, answers) : call.From(outcome);
    }

    // Entries that get a time, or lose it, are written anew, and what they lie in: room for all of them, where they are many.
    private static WriteRoom RoomFor(ref Call call, in EntryTimes times) =>
        times.ExpireAtMs != 0 && times.ExpireAtMs <= call.NowMs ? WriteRoom.None
            : WriteRoom.For(ref call, new EntryCost(times.Kind, Words: 1));

    private static Reply Show(ref Call call, long[] answers)
    {
        call.Out.Array(answers.Length);
        foreach (long answer in answers)
            call.Out.Int(answer);
        return Reply.Sent;
    }

    private struct TimesLook(MemberShape shape, Operands entries, long[] answers, bool inSeconds, bool absolute) : IExamine
    {
        internal bool WrongKind;

        public unsafe void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != shape.Kind;
            int index = 0;
            if (!WrongKind)
                MembersAhead.Look(ref record, entries);
            for (Operands.Reader reader = entries.Read(); !WrongKind && reader.Next(); index++)
            {
                if (!Members.Find(ref record, shape.Form, reader.Bytes, reader.Length, out Entry entry) || entry.IsDue(record.NowMs))
                    continue;
                long left = entry.ExpireAtMs - (absolute ? 0 : record.NowMs);
                answers[index] = entry.ExpireAtMs == 0 ? EntryTimes.NoExpiry : inSeconds ? (left + 999) / 1000 : left;
            }
        }
    }
}
