using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Server.Families.Strings;
using Garnet.Types.Collections;
using Garnet.Types.Hashes;
using Tsavorite;

namespace Garnet.Server.Families.Hashes;

/// <summary>EX and its relatives, PERSIST, KEEPTTL, FNX and FXX, before or behind the fields of HGETEX and HSETEX.</summary>
internal struct FieldOptions
{
    internal long ExpireAtMs;
    internal bool Persists;
    internal bool Keeps;
    internal bool? MustExist;
    /// <summary>Where FIELDS stands.</summary>
    internal int FieldsAt;

    /// <summary>True if what is set has expired already.</summary>
    internal readonly bool IsPast(long nowMs) => ExpireAtMs != 0 && ExpireAtMs <= nowMs;

    /// <summary>Reads all up to FIELDS; on false the error has been written.</summary>
    internal bool TryParse(ref Call call, bool sets, out Reply failed)
    {
        failed = Reply.Sent;
        int at = 2;
        bool times = false;
        for (; at < call.Count && !call.Is(at, "FIELDS"u8); at++)
        {
            bool fits = sets && MustExist is null && (call.Is(at, "FNX"u8) || call.Is(at, "FXX"u8));
            if (fits)
            {
                MustExist = call.Is(at, "FXX"u8);
                continue;
            }

            bool isExpiry = call.Is(at, "EX"u8) || call.Is(at, "PX"u8) || call.Is(at, "EXAT"u8) || call.Is(at, "PXAT"u8);
            Persists |= !sets && call.Is(at, "PERSIST"u8);
            Keeps |= sets && call.Is(at, "KEEPTTL"u8);
            if (times || (!isExpiry && !Persists && !Keeps) || (isExpiry && at + 1 == call.Count))
            {
                failed = call.Fail(Fault.Syntax);
                return false;
            }

            times = true;
            if (isExpiry && !TryTime(ref call, at++, out failed))
                return false;
        }

        FieldsAt = at;
        return true;
    }

    private bool TryTime(ref Call call, int at, out Reply failed)
    {
        failed = Reply.Sent;
        bool inSeconds = call.Is(at, "EX"u8) || call.Is(at, "EXAT"u8), absolute = call.Is(at, "EXAT"u8) || call.Is(at, "PXAT"u8);
        if (!call.TryInt64(at + 1, out long time))
            failed = call.Fail(Fault.NotAnInteger);
        else if (!ExpiryTime.TryAbsolute(time, inSeconds, absolute, call.NowMs, out ExpireAtMs) || ExpireAtMs > EntryExpiry.ExpireAtMsMax)
            failed = ExpiryTime.Refuse(ref call);
        return failed == Reply.Sent;
    }
}

internal readonly struct HGetEx : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HGETEX", -5, CommandFlags.Write | CommandFlags.Fast, "RW ACCESS UPDATE", "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] FIELDS numfields field [field ...]", "Returns the values of fields and changes their expiry.") with { Since = "8.0.0", Complexity = "O(N)", Event = new("hexpire", NotifyClasses.Hash) };

    public static Reply Run(ref Call call)
    {
        var options = default(FieldOptions);
        if (!EntryExpiry.IsKind(ref call, EntryWords.Hash, out Reply failed) || !options.TryParse(ref call, sets: false, out failed)
            || !EntryList.TryRead(ref call, EntryWords.Hash, options.FieldsAt, EntryWords.Hash.BadAskedNumber, out EntryList fields,
                out failed))
            return failed;
        var read = new FieldsRead(call.Out, fields.Of(ref call));
        bool exists;
        if (!options.Persists && options.ExpireAtMs == 0)
        {
            exists = CollectionCalls.Examine(ref call, ref read) != Outcome.NotFound;
            return HashCommands.ShowFields(ref call, exists, read.WrongKind, fields.Count);
        }

        var times = new EntryTimes(MemberShape.Hash, fields.Of(ref call), new long[fields.Count]) { ExpireAtMs = options.ExpireAtMs };
        Outcome outcome = EntryExpiry.Retime(ref call, ref times, ref read, out exists);
        if (outcome != Outcome.Done && !exists) // else the values are in the reply by now
            return call.From(outcome);
        return HashCommands.ShowFields(ref call, exists, read.WrongKind, fields.Count);
    }
}

internal readonly struct HGetDel : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HGETDEL", -5, CommandFlags.Write | CommandFlags.Fast, "RW ACCESS DELETE", "key FIELDS numfields field [field ...]", "Returns the values of fields and removes them.") with { Since = "8.0.0", Complexity = "O(N)", Event = new("hdel", NotifyClasses.Hash) { Empties = true } };

    public static Reply Run(ref Call call)
    {
        if (!EntryExpiry.IsKind(ref call, EntryWords.Hash, out Reply failed)
            || !EntryList.TryRead(ref call, EntryWords.Hash, 2, EntryWords.Hash.BadAskedNumber, out EntryList fields, out failed))
            return failed;
        KeyRef key = call.Key;
        var read = new FieldsRead(call.Out, fields.Of(ref call));
        var remove = new RemoveMembers { Kind = RecordKind.Hash, Keys = fields.Of(ref call) };
        call.Session.Lock([key]);
        bool exists = call.Session.Examine(in key, ref read) == Outcome.Done;
        call.Session.Edit(in key, ref remove);
        call.Session.Unlock();
        return HashCommands.ShowFields(ref call, exists, read.WrongKind, fields.Count);
    }
}

internal readonly unsafe struct HSetEx : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HSETEX", -6, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, "RW UPDATE", "key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] FIELDS numfields field value [field value ...]", "Sets fields with their expiry.") with { Since = "8.0.0", Complexity = "O(N)", Event = new("hset", NotifyClasses.Hash) };

    public static Reply Run(ref Call call)
    {
        var options = default(FieldOptions);
        if (!EntryExpiry.IsKind(ref call, EntryWords.Hash, out Reply failed) || !options.TryParse(ref call, sets: true, out failed))
            return failed;
        int first = options.FieldsAt + 2;
        if (first > call.Count)
            return call.FailBytes(EntryWords.Hash.Missing);
        if (!call.TryInt64(first - 1, out long count) || count is < 1 or > int.MaxValue)
            return call.FailBytes(EntryWords.Hash.BadAskedNumber);
        if (count * 2 != call.Count - first)
            return call.FailBytes(EntryWords.Hash.Mismatch);
        if (CollectionCalls.ChangesNothing(ref call, EntryCost.OfHashes, onlyIfThere: options.MustExist == true, out Reply nothing))
            return nothing;
        KeyRef key = call.Key;
        bool isPast = options.IsPast(call.NowMs), isWrongKind = false;
        // Looked at ahead of the locks where room would be made for it: nobody is evicted for what is not written then.
        if (EntryCost.OfHashes.LargeBytes(ref call) > 0 && !IsAllowed(ref call, in key, options, first, ref isWrongKind))
            return isWrongKind ? call.Fail(Fault.WrongType) : call.Int(0);
        using WriteRoom room = isPast ? WriteRoom.None : WriteRoom.For(ref call, EntryCost.OfHashes);
        if (!room.IsThere)
            return call.From(Outcome.OutOfMemory);
        call.Session.Lock([key]);
        if (options.Keeps || isPast)
            call.Session.Room.Announce(in key, call.Count - first, call.RequestBytes()); // a change for each field (store.U22)
        Outcome outcome = SetLocked(ref call, in key, options, first, out isWrongKind);
        call.Session.Unlock();
        call.Server.EntryReaper.Wake(in key, isPast ? 0 : options.ExpireAtMs); // with KEEPTTL there is no new one
        if (isWrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(outcome == Outcome.Done ? 1 : 0) : call.From(outcome);
    }

    // False: the fields are not all there, or not all absent, as is wanted.
    private static bool IsAllowed(ref Call call, in KeyRef key, in FieldOptions options, int first, ref bool isWrongKind)
    {
        for (int i = first; i < call.Count && options.MustExist is { } wanted; i += 2)
        {
            if (TimeOf(call.Session, in key, call.Args[i], ref isWrongKind) is null == wanted)
                return false;
        }
        return true;
    }

    // Unchanged: it is not allowed.
    // What is set with one time is one change. What a change replaces is free only once the locks are given back: with a change for each field
    // parts of the hash would be left behind again and again.
    private static Outcome SetLocked(ref Call call, in KeyRef key, in FieldOptions options, int first, out bool isWrongKind)
    {
        isWrongKind = false;
        Outcome outcome = Outcome.Done;
        if (!IsAllowed(ref call, in key, options, first, ref isWrongKind))
            return Outcome.Unchanged;
        for (int i = first, end; i < call.Count && outcome == Outcome.Done && !isWrongKind; i = end)
        {
            end = call.Count;
            if (options.IsPast(call.NowMs))
            {
                end = i + 2;
                var remove = new RemoveMembers { Kind = RecordKind.Hash, Keys = new Operands(call.Args + i, 1) };
                call.Session.Edit(in key, ref remove);
                isWrongKind = remove.WrongKind;
                continue;
            }

            long expireAtMs = options.ExpireAtMs;
            if (options.Keeps)
            {
                expireAtMs = TimeOf(call.Session, in key, call.Args[i], ref isWrongKind) ?? 0;
                for (end = i + 2; end < call.Count && (TimeOf(call.Session, in key, call.Args[end], ref isWrongKind) ?? 0) == expireAtMs;)
                    end += 2;
            }

            CollectionLimits limits = HashCommands.Limits(ref call);
            var put = new HashPut { Pairs = new Operands(call.Args + i, end - i), ExpireAtMs = expireAtMs, Limits = limits };
            outcome = call.Session.Edit(in key, ref put);
            isWrongKind |= put.WrongKind;
        }

        return outcome;
    }

    // The field's expiry, 0 for never, null if it is not there.
    private static long? TimeOf(StoreSession store, in KeyRef key, Garnet.Common.Resp.Arg field, ref bool isWrongKind)
    {
        var look = new TimeLook { Field = field };
        store.Examine(in key, ref look, quiet: true);
        isWrongKind |= look.WrongKind;
        return look.ExpireAtMs;
    }

    private struct TimeLook : IExamine
    {
        internal Garnet.Common.Resp.Arg Field;
        internal long? ExpireAtMs;
        internal bool WrongKind;

        public void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.Hash;
            if (!WrongKind && Members.Find(ref record, EntryForm.Pair, Field.Bytes, Field.Length, out Entry entry)
                && !entry.IsDue(record.NowMs))
                ExpireAtMs = entry.ExpireAtMs;
        }
    }
}
