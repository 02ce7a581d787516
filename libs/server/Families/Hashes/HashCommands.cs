using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types;
using Garnet.Types.Collections;
using Garnet.Types.Counters;
using Garnet.Types.Hashes;
using Tsavorite;

namespace Garnet.Server.Families.Hashes;

/// <summary>Hashes: HSET, HGET and their relatives.</summary>
internal static unsafe class HashCommands
{
    private const CommandFlags ReadFast = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags WriteFast = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast;

    internal static void Register(CommandTable table)
    {
        table.Add<HSet>();
        table.Add<HMSet>();
        table.Add<HSetNx>();
        table.Add<HGet>();
        table.Add<HMGet>();
        table.Add<HGetAll>();
        table.Add<HKeys>();
        table.Add<HVals>();
        table.Add<HLen>();
        table.Add<HExists>();
        table.Add<HDel>();
        table.Add<HIncrBy>();
        table.Add<HIncrByFloat>();
        table.Add<HStrLen>();
        table.Add<HRandField>();
        table.Add<HScan>();
        FieldExpiryCommands.Register(table);
    }

    internal static void Replay(ReplayTable table)
    {
        table.AddEdit<HashPut>();
        table.AddEdit<RemoveMembers>();
        table.AddEdit<RetimeEntries>();
    }

    internal static CommandSpec Read(string name, int arity, string syntax, string summary) =>
        Spec(name, arity, ReadFast, "RO ACCESS", syntax, summary);

    internal static CommandSpec Write(string name, int arity, string usage, string syntax, string summary) =>
        Spec(name, arity, WriteFast, usage, syntax, summary);

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage }) { Group = "hash", Syntax = syntax, Summary = summary, Since = "2.0.0" };

    internal static CollectionLimits Limits(ref Call call) => CollectionLimits.OfHashes(call.Server.Settings.Encoding);

    /// <summary>Sets the pairs from argument 2 on; on false the error has been written.</summary>
    internal static bool TrySet(ref Call call, out int added, out Reply failed)
    {
        added = 0;
        failed = Reply.Sent;
        if (call.Count % 2 != 0)
        {
            failed = call.WrongArity();
            return false;
        }

        if (CollectionCalls.ChangesNothing(ref call, EntryCost.OfHashes, onlyIfThere: false, out failed))
            return false;
        var put = new HashPut { Pairs = new Operands(call.Args + 2, call.Count - 2), Limits = Limits(ref call) };
        Outcome outcome = CollectionCalls.EditWhole(ref call, ref put, EntryCost.OfHashes);
        added = put.Added;
        if (put.WrongKind)
            failed = call.Fail(Fault.WrongType);
        else if (outcome is not (Outcome.Done or Outcome.Unchanged))
            failed = call.From(outcome);
        return failed == Reply.Sent;
    }

    /// <summary>The end of a reply that <see cref="FieldsRead"/> has written, if there was a hash.</summary>
    internal static Reply ShowFields(ref Call call, bool exists, bool isWrongKind, int fields)
    {
        if (exists)
            return CollectionCalls.Done(ref call, isWrongKind);
        call.Out.Array(fields);
        for (int i = 0; i < fields; i++)
            call.Out.Null();
        return Reply.Sent;
    }

    /// <summary>Replies what is asked of the field in argument 2.</summary>
    internal static Reply Ask(ref Call call, FieldQuestion question)
    {
        var look = new FieldLook(call.Out, call.Args[2], question);
        if (CollectionCalls.Examine(ref call, ref look) == Outcome.NotFound)
            return question == FieldQuestion.Value ? call.Null() : call.Int(0);
        return CollectionCalls.Done(ref call, look.WrongKind);
    }

    /// <summary>Replies parts of all fields.</summary>
    internal static Reply ReplyAll(ref Call call, FieldParts parts)
    {
        var walk = new HashWalk(call.Out, parts);
        if (CollectionCalls.Examine(ref call, ref walk) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, walk.WrongKind);
        if (parts == FieldParts.Both)
            call.Out.Map(0);
        else
            call.Out.Array(0);
        return Reply.Sent;
    }
}

internal readonly struct HSet : ICommand
{
    public static CommandSpec Spec => HashCommands.Write("HSET", -4, "RW UPDATE", "key field value [field value ...]", "Sets fields of a hash.") with { Member = 2, Complexity = "O(N)", Event = new("hset", NotifyClasses.Hash) };

    public static Reply Run(ref Call call) => HashCommands.TrySet(ref call, out int added, out Reply failed) ? call.Int(added) : failed;
}

internal readonly struct HMSet : ICommand
{
    public static CommandSpec Spec => HashCommands.Write("HMSET", -4, "RW UPDATE", "key field value [field value ...]", "Sets fields of a hash.") with { Member = 2, Complexity = "O(N)", Event = new("hset", NotifyClasses.Hash) };

    public static Reply Run(ref Call call) => HashCommands.TrySet(ref call, out _, out Reply failed) ? call.Ok() : failed;
}

internal readonly struct HSetNx : ICommand
{
    public static CommandSpec Spec => HashCommands.Write("HSETNX", 4, "RW INSERT", "key field value", "Sets a field of a hash only when it does not exist.") with { Member = 2, Event = new("hset", NotifyClasses.Hash) };

    public static unsafe Reply Run(ref Call call)
    {
        var put = new HashPut { Pairs = new Operands(call.Args + 2, 2), Mode = PutMode.IfAbsent, Limits = HashCommands.Limits(ref call) };
        Outcome outcome = CollectionCalls.Edit(ref call, ref put);
        if (put.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(put.Added) : call.From(outcome);
    }
}

internal readonly struct HGet : ICommand
{
    public static CommandSpec Spec => HashCommands.Read("HGET", 3, "key field", "Returns the value of a field of a hash.") with { Member = 2 };

    public static Reply Run(ref Call call) => HashCommands.Ask(ref call, FieldQuestion.Value);
}

internal readonly struct HStrLen : ICommand
{
    public static CommandSpec Spec => HashCommands.Read("HSTRLEN", 3, "key field", "Returns the length of the value of a field of a hash.") with { Keys = KeySpec.One with { Usage = "RO" }, Member = 2, Since = "3.2.0" };

    public static Reply Run(ref Call call) => HashCommands.Ask(ref call, FieldQuestion.Length);
}

internal readonly struct HExists : ICommand
{
    public static CommandSpec Spec => HashCommands.Read("HEXISTS", 3, "key field", "Says whether a field of a hash exists.") with { Keys = KeySpec.One with { Usage = "RO" }, Member = 2 };

    public static Reply Run(ref Call call) => HashCommands.Ask(ref call, FieldQuestion.Presence);
}

internal readonly struct HMGet : ICommand
{
    public static CommandSpec Spec => HashCommands.Read("HMGET", -3, "key field [field ...]", "Returns the values of fields of a hash.") with { Member = 2, Complexity = "O(N)" };

    public static unsafe Reply Run(ref Call call)
    {
        int count = call.Count - 2;
        var read = new FieldsRead(call.Out, new Operands(call.Args + 2, count));
        if (CollectionCalls.Examine(ref call, ref read) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, read.WrongKind);
        call.Out.Array(count);
        for (int i = 0; i < count; i++)
            call.Out.Null();
        return Reply.Sent;
    }
}

internal readonly struct HGetAll : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HGETALL", 2, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key", "Returns all fields of a hash with their values.") with { Complexity = "O(N)", Tips = "nondeterministic_output_order" };

    public static Reply Run(ref Call call) => HashCommands.ReplyAll(ref call, FieldParts.Both);
}

internal readonly struct HKeys : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HKEYS", 2, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key", "Returns all fields of a hash.") with { Complexity = "O(N)", Tips = "nondeterministic_output_order" };

    public static Reply Run(ref Call call) => HashCommands.ReplyAll(ref call, FieldParts.Name);
}

internal readonly struct HVals : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HVALS", 2, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key", "Returns all values of a hash.") with { Complexity = "O(N)", Tips = "nondeterministic_output_order" };

    public static Reply Run(ref Call call) => HashCommands.ReplyAll(ref call, FieldParts.Value);
}

internal readonly struct HLen : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HLEN", 2, CommandFlags.ReadOnly | CommandFlags.Fast, "RO", "key", "Returns the number of fields of a hash.");

    public static Reply Run(ref Call call) => CollectionCalls.Count(ref call, RecordKind.Hash);
}

internal readonly struct HDel : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HDEL", -3, CommandFlags.Write | CommandFlags.Fast, "RW DELETE", "key field [field ...]", "Removes fields of a hash; an empty hash is removed.") with { Member = 2, Complexity = "O(N)", Event = new("hdel", NotifyClasses.Hash) { Empties = true } };

    public static unsafe Reply Run(ref Call call)
    {
        var remove = new RemoveMembers { Kind = RecordKind.Hash, Keys = new Operands(call.Args + 2, call.Count - 2) };
        CollectionCalls.Edit(ref call, ref remove);
        return remove.WrongKind ? call.Fail(Fault.WrongType) : call.Int(remove.Removed);
    }
}

internal readonly struct HIncrBy : ICommand
{
    public static CommandSpec Spec => HashCommands.Write("HINCRBY", 4, "RW ACCESS UPDATE", "key field increment", "Increments the integer in a field of a hash; a missing field counts as 0.") with { Member = 2, Event = new("hincrby", NotifyClasses.Hash) };

    public static unsafe Reply Run(ref Call call)
    {
        if (!call.TryInt64(3, out long by))
            return call.Fail(Fault.NotAnInteger);
        var put = new HashPut
        {
            Pairs = new Operands(call.Args + 2, 2), Mode = PutMode.Add, By = by, KeepExpiry = true, Limits = HashCommands.Limits(ref call),
        };
        Outcome outcome = CollectionCalls.Edit(ref call, ref put);
        if (put.WrongKind)
            return call.Fail(Fault.WrongType);
        if (outcome == Outcome.Done)
            return call.Int(put.Sum);
        return outcome == Outcome.Unchanged ? call.Fail(put.Refusal) : call.From(outcome);
    }
}

internal readonly unsafe struct HIncrByFloat : ICommand
{
    private const int AttemptsMax = 1000;

    public static CommandSpec Spec => HashCommands.Write("HINCRBYFLOAT", 4, "RW ACCESS UPDATE", "key field increment", "Increments the floating point number in a field of a hash; a missing field counts as 0.") with { Member = 2, Since = "2.6.0", Event = new("hincrbyfloat", NotifyClasses.Hash) };

    public static Reply Run(ref Call call)
    {
        if (!ExtendedFloat.TryParse(call[3], out ExtendedFloat by))
            return call.Fail(Fault.NotAFloat);
        if (!by.IsFinite)
            return call.FailBytes("ERR value is NaN or Infinity"u8);
        byte* old = stackalloc byte[ExtendedFloat.TextBytesMax];
        byte* sum = stackalloc byte[ExtendedFloat.TextBytesMax];
        Arg* pair = stackalloc Arg[2];
        pair[0] = call.Args[2];
        // The sum is worked out without the lock (it takes microseconds), then set only if the value is still the same.
        for (int attempt = 0; attempt < AttemptsMax; attempt++)
        {
            var read = new FieldCopy(call.Args[2], old, ExtendedFloat.TextBytesMax);
            CollectionCalls.Examine(ref call, ref read);
            if (read.WrongKind)
                return call.Fail(Fault.WrongType);
            ReadOnlySpan<byte> before = read.Found ? new ReadOnlySpan<byte>(old, Math.Min(read.Length, ExtendedFloat.TextBytesMax)) : "0"u8;
            if (read.Length > ExtendedFloat.TextBytesMax || !ExtendedFloat.TryParse(before, out ExtendedFloat current))
                return call.FailBytes("ERR hash value is not a float"u8);
            if (!ExtendedFloat.TryAdd(current, by, out ExtendedFloat result))
                return call.Fail(Fault.IncrementNotFinite);
            int length = result.Write(new Span<byte>(sum, ExtendedFloat.TextBytesMax));
            pair[1] = new Arg { Bytes = sum, Length = length };
            var put = new HashPut
            {
                Pairs = new Operands(pair, 2), Mode = PutMode.IfUnchanged, Expected = read.Found ? old : null, ExpectedBytes = read.Length,
                KeepExpiry = true, Limits = HashCommands.Limits(ref call),
            };
            Outcome outcome = CollectionCalls.Edit(ref call, ref put);
            if (outcome == Outcome.Done)
                return call.Bulk(new ReadOnlySpan<byte>(sum, length));
            if (outcome != Outcome.Unchanged)
                return call.From(outcome);
        }

        return call.Fail(Fault.KeyChangesTooFast);
    }
}
