using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Keys;
using Garnet.Types.Keys;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Strings;

/// <summary>Strings as whole values: GET, SET and their relatives.</summary>
internal static unsafe class StringCommands
{
    internal const CommandFlags WriteFast = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast;
    internal const CommandFlags ReadFast = CommandFlags.ReadOnly | CommandFlags.Fast;

    internal static void Register(CommandTable table)
    {
        table.Add<Get>();
        table.Add<Set>();
        table.Add<SetNx>();
        table.Add<SetEx>();
        table.Add<PSetEx>();
        table.Add<GetSet>();
        table.Add<GetDel>();
        table.Add<GetEx>();
        table.Add<Append>();
        table.Add<StrLen>();
        table.Add<SetRange>();
        table.Add<GetRange>();
        table.Add<SubStr>();
        table.Add<Lcs>();
    }

    internal static void Replay(ReplayTable table)
    {
        table.Add<SetValue>();
        table.Add<AppendBytes>();
        table.Add<SetRangeBytes>();
        table.Add<TakeOrTouch>();
    }

    internal static CommandSpec Spec(
        string name, int arity, CommandFlags flags, KeySpec keys, string usage, string syntax, string summary) =>
        new(name, arity, flags, keys with { Usage = usage }) { Group = "string", Syntax = syntax, Summary = summary };

    /// <summary>Replies the string under the key, nil if there is none; a long one is sent from where it lies, where it can be. Asked again with more room, that is no second read of the key.</summary>
    internal static Reply ReplyValue(ref Call call, in KeyRef key)
    {
        for (bool isAgain = false; ; isAgain = true)
        {
            var copy = new ValueCopy(call.Out);
            if (call.Session.Read(in key, ref copy, isAgain) != Outcome.Done)
                return call.Null();
            if (copy.WrongKind)
                return call.Fail(Fault.WrongType);
            if (!copy.TooSmall)
            {
                call.Out.Position = copy.End;
                return Reply.Sent;
            }

            if (!isAgain && call.MayPark && call.Worker.Values.TryReply(call.Client, in key))
                return Reply.Sent;
            call.Out.Room(copy.Length + 64);
        }
    }

    /// <summary>Runs GETDEL and GETEX and replies the value.</summary>
    internal static Reply ReplyTaken(ref Call call, in KeyRef key, TakeOrTouch operation)
    {
        while (true)
        {
            TakeOrTouch attempt = operation;
            attempt.Old = new ValueCopy(call.Out);
            Outcome outcome = ExpiryCommands.ModifyTime(ref call, in key, ref attempt);
            if (!attempt.Existed)
            {
                call.Session.Misses++;
                return outcome is Outcome.Unchanged or Outcome.NotFound or Outcome.Done ? call.Null() : call.From(outcome);
            }

            if (attempt.Old.WrongKind)
                return call.Fail(Fault.WrongType);
            if (!attempt.Old.TooSmall)
            {
                call.Session.Hits++;
                if (outcome is not (Outcome.Done or Outcome.Unchanged))
                    return call.From(outcome);
                call.Out.Position = attempt.Old.End;
                return Reply.Sent;
            }

            call.Out.Room(attempt.Old.Length + 64);
        }
    }
}

internal readonly struct Get : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("GET", 2, StringCommands.ReadFast, KeySpec.One, "RO ACCESS", "key", "Returns the string value of a key.");

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        return StringCommands.ReplyValue(ref call, in key);
    }
}

internal readonly unsafe struct SetNx : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("SETNX", 3, StringCommands.WriteFast, KeySpec.One, "OW INSERT", "key value", "Sets the string value of a key only when the key does not exist.") with { Event = KeyEvent.Set };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var set = new SetValue { Value = call.Args[2].Bytes, Length = call.Args[2].Length, Condition = SetCondition.IfAbsent };
        Outcome outcome = call.Session.Modify(in key, ref set);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(set.Applied ? 1 : 0) : call.From(outcome);
    }
}

internal readonly struct SetEx : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("SETEX", 4, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, KeySpec.One with { HeadsUpTo = int.MaxValue }, "OW UPDATE", "key seconds value", "Sets the string value and the expiry of a key in seconds.") with { Event = KeyEvent.Set with { ExpiryAt = KeyEvent.Always }, Since = "2.0.0" };

    public static Reply Run(ref Call call) => RunAny(ref call, inSeconds: true);

    internal static unsafe Reply RunAny(ref Call call, bool inSeconds)
    {
        if (!call.TryInt64(2, out long time))
            return call.Fail(Fault.NotAnInteger);
        if (!ExpiryTime.TryAbsolute(time, inSeconds, absolute: false, call.NowMs, out long unixMs))
            return ExpiryTime.Refuse(ref call);
        KeyRef key = call.Key;
        var set = new SetValue { Value = call.Args[3].Bytes, Length = call.Args[3].Length, ExpireAtMs = unixMs };
        Outcome outcome = call.Session.Modify(in key, ref set);
        return outcome == Outcome.Done ? call.Ok() : call.From(outcome);
    }
}

internal readonly struct PSetEx : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("PSETEX", 4, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, KeySpec.One with { HeadsUpTo = int.MaxValue }, "OW UPDATE", "key milliseconds value", "Sets the string value and the expiry of a key in milliseconds.") with { Event = KeyEvent.Set with { ExpiryAt = KeyEvent.Always }, Since = "2.6.0" };

    public static Reply Run(ref Call call) => SetEx.RunAny(ref call, inSeconds: false);
}

internal readonly unsafe struct GetSet : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("GETSET", 3, StringCommands.WriteFast, KeySpec.One, "RW ACCESS UPDATE", "key value", "Sets a key and returns its previous string value.") with { Event = KeyEvent.Set, Misses = KeyMisses.All };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var set = new SetValue { Value = call.Args[2].Bytes, Length = call.Args[2].Length, WantsOld = true };
        Outcome outcome = Set.Apply(ref call, in key, ref set);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return call.From(outcome);
        if (set.WrongKind)
            return call.Fail(Fault.WrongType);
        if (!set.Existed)
            return call.Null();
        call.Out.Position = set.Old.End;
        return Reply.Sent;
    }
}

internal readonly struct GetDel : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("GETDEL", 2, CommandFlags.Write | CommandFlags.Fast, KeySpec.One, "RW ACCESS DELETE", "key", "Returns the string value of a key and deletes it.") with { Misses = KeyMisses.All, Since = "6.2.0" };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        return StringCommands.ReplyTaken(ref call, in key, new TakeOrTouch { Remove = true });
    }
}

internal readonly struct GetEx : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("GETEX", -2, CommandFlags.Write | CommandFlags.Fast, KeySpec.One, "RW ACCESS UPDATE", "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]", "Returns the string value of a key and sets or clears its expiry.") with { Misses = KeyMisses.All, Since = "6.2.0" };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var options = new StringOptions(StringOption.Expire | StringOption.Persist);
        if (!options.TryParse(ref call, 2, out Reply failed))
            return failed;
        var look = default(FieldsLook); // Redis looks for the key before it reads the time
        if (options.HasExpiry && call.Session.Read(in key, ref look, quiet: true) != Outcome.Done)
        {
            call.Session.Misses++;
            return call.Null();
        }

        if (options.HasExpiry && look.Kind != RecordKind.String)
            return call.Fail(Fault.WrongType);
        if (!options.TryExpiry(ref call, out failed))
            return failed;
        var touch = new TakeOrTouch { ChangesExpiry = options.HasExpiry || options.Persist, ExpireAtMs = options.ExpireAtMs };
        touch.Remove = options.HasExpiry && options.ExpireAtMs <= call.NowMs;
        return StringCommands.ReplyTaken(ref call, in key, touch);
    }
}

internal readonly unsafe struct Append : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("APPEND", 3, StringCommands.WriteFast, KeySpec.One, "RW INSERT", "key value", "Appends a string to the value of a key; creates the key if it does not exist.") with { Event = new("append", NotifyClasses.String), Since = "2.0.0" };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var append = new AppendBytes
        {
            Bytes = call.Args[2].Bytes,
            Length = call.Args[2].Length,
            BytesMax = call.Server.ClientLimits.Requests.BulkBytesMax,
        };
        Outcome outcome = call.Session.Modify(in key, ref append);
        if (append.WrongKind)
            return call.Fail(Fault.WrongType);
        if (append.TooLong)
            return call.Fail(Fault.StringTooLong);
        return outcome == Outcome.Done ? call.Int(append.NewLength) : call.From(outcome);
    }
}

internal readonly struct StrLen : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("STRLEN", 2, StringCommands.ReadFast, KeySpec.One, "RO", "key", "Returns the length of a string value.") with { Since = "2.2.0" };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var look = default(LengthLook);
        if (call.Session.Read(in key, ref look) != Outcome.Done)
            return call.Int(0);
        return look.Kind == RecordKind.String ? call.Int(look.Length) : call.Fail(Fault.WrongType);
    }

    private struct LengthLook : IRead
    {
        internal RecordKind Kind;
        internal int Length;

        public void Look(in RecordView record)
        {
            Kind = record.Kind;
            Length = record.ValueBytes;
        }
    }
}

internal readonly unsafe struct SetRange : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("SETRANGE", 4, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, KeySpec.One, "RW UPDATE", "key offset value", "Overwrites part of a string value from an offset; creates the key if it does not exist.") with { Event = new("setrange", NotifyClasses.String), Since = "2.2.0", Room = static (ref Call call) => call.TryInt64(2, out long offset) ? Math.Clamp(offset, 0, call.Server.ClientLimits.Requests.BulkBytesMax) : 0 };

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(2, out long offset))
            return call.Fail(Fault.NotAnInteger);
        if (offset < 0)
            return call.Fail(Fault.OffsetOutOfRange);
        KeyRef key = call.Key;
        long limit = call.Server.ClientLimits.Requests.BulkBytesMax;
        if (offset > limit)
            offset = limit + 1; // refused below unless there is nothing to write; keeps the sum from overflowing
        var write = new SetRangeBytes { Bytes = call.Args[3].Bytes, Length = call.Args[3].Length, Offset = offset, BytesMax = limit };
        Outcome outcome = call.Session.Modify(in key, ref write);
        if (write.WrongKind)
            return call.Fail(Fault.WrongType);
        if (write.TooLong)
            return call.Fail(Fault.StringTooLong);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(write.NewLength) : call.From(outcome);
    }
}

internal readonly unsafe struct GetRange : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("GETRANGE", 4, CommandFlags.ReadOnly | CommandFlags.Quick, KeySpec.One, "RO ACCESS", "key start end", "Returns a part of a string value.") with { Since = "2.4.0" };

    public static Reply Run(ref Call call) => RunAny(ref call);

    internal static Reply RunAny(ref Call call)
    {
        if (!call.TryInt64(2, out long start) || !call.TryInt64(3, out long end))
            return call.Fail(Fault.NotAnInteger);
        KeyRef key = call.Key;
        while (true)
        {
            var copy = new RangeCopy(call.Out, start, end);
            if (call.Session.Read(in key, ref copy) != Outcome.Done)
                return call.Bulk(default);
            if (copy.WrongKind)
                return call.Fail(Fault.WrongType);
            if (copy.Needed == 0)
            {
                call.Out.Position = copy.End;
                return Reply.Sent;
            }

            call.Out.Room(copy.Needed + 64);
        }
    }
}

internal readonly struct SubStr : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("SUBSTR", 4, CommandFlags.ReadOnly | CommandFlags.Quick, KeySpec.One, "RO ACCESS", "key start end", "Returns a part of a string value; the old name of GETRANGE.");

    public static Reply Run(ref Call call) => GetRange.RunAny(ref call);
}
