using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types;
using Garnet.Types.Collections;
using Garnet.Types.Sets;
using Tsavorite;

namespace Garnet.Server.Families.Sets;

/// <summary>Sets: SADD, SISMEMBER, SPOP and their relatives.</summary>
internal static unsafe class SetCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<SAdd>();
        table.Add<SRem>();
        table.Add<SIsMember>();
        table.Add<SMIsMember>();
        table.Add<SCard>();
        table.Add<SMembers>();
        table.Add<SPop>();
        table.Add<SRandMember>();
        table.Add<SMove>();
        table.Add<SScan>();
        table.Add<SInter>();
        table.Add<SInterCard>();
        table.Add<SUnionCard>();
        table.Add<SDiffCard>();
        table.Add<SInterStore>();
        table.Add<SUnion>();
        table.Add<SUnionStore>();
        table.Add<SDiff>();
        table.Add<SDiffStore>();
    }

    internal static void Replay(ReplayTable table) => table.AddEdit<SetAdd>();

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage }) { Group = "set", Syntax = syntax, Summary = summary };

    /// <summary>An addition by the limits that are set.</summary>
    internal static SetAdd Adding(ref Call call, in Operands keys) => SetAdd.Of(call.Server.Settings.Encoding, keys);
}

/// <summary>Whether members are in a set.</summary>
internal unsafe struct ContainsLook(byte* member, int bytes) : IExamine
{
    internal bool WrongKind;
    internal bool Found;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Set;
        Found = !WrongKind && Members.Find(ref record, EntryForm.Member, member, bytes, out _);
    }
}

internal readonly struct SAdd : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SADD", -3, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, "RW INSERT", "key member [member ...]", "Adds members to a set.") with { Member = 2, Complexity = "O(N)", Event = new("sadd", NotifyClasses.Set) };

    public static unsafe Reply Run(ref Call call)
    {
        if (CollectionCalls.ChangesNothing(ref call, EntryCost.OfSets, onlyIfThere: false, out Reply nothing))
            return nothing;
        SetAdd add = SetCommands.Adding(ref call, new Operands(call.Args + 2, call.Count - 2));
        Outcome outcome = CollectionCalls.EditWhole(ref call, ref add, EntryCost.OfSets);
        if (add.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(add.Added) : call.From(outcome);
    }
}

internal readonly struct SRem : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SREM", -3, CommandFlags.Write | CommandFlags.Fast, "RW DELETE", "key member [member ...]", "Removes members of a set; an empty set is removed.") with { Member = 2, Complexity = "O(N)", Event = new("srem", NotifyClasses.Set) { Empties = true } };

    public static unsafe Reply Run(ref Call call)
    {
        var remove = new RemoveMembers { Kind = RecordKind.Set, Keys = new Operands(call.Args + 2, call.Count - 2) };
        CollectionCalls.Edit(ref call, ref remove);
        return remove.WrongKind ? call.Fail(Fault.WrongType) : call.Int(remove.Removed);
    }
}

internal readonly struct SIsMember : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SISMEMBER", 3, CommandFlags.ReadOnly | CommandFlags.Fast, "RO", "key member", "Says whether a member is in a set.") with { Member = 2 };

    public static unsafe Reply Run(ref Call call)
    {
        var look = new ContainsLook(call.Args[2].Bytes, call.Args[2].Length);
        CollectionCalls.Examine(ref call, ref look);
        return look.WrongKind ? call.Fail(Fault.WrongType) : call.Int(look.Found ? 1 : 0);
    }
}

internal readonly struct SMIsMember : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SMISMEMBER", -3, CommandFlags.ReadOnly | CommandFlags.Fast, "RO ACCESS", "key member [member ...]", "Says of members whether they are in a set.") with { Member = 2, Since = "6.2.0", Complexity = "O(N)" };

    public static unsafe Reply Run(ref Call call)
    {
        int count = call.Count - 2;
        var look = new ManyLook(call.Out, new Operands(call.Args + 2, count));
        if (CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, look.WrongKind);
        call.Out.Array(count);
        for (int i = 0; i < count; i++)
            call.Out.Int(0);
        return Reply.Sent;
    }

    private unsafe struct ManyLook(Garnet.Common.Resp.RespWriter to, Operands members) : IExamine
    {
        internal bool WrongKind;

        public void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.Set;
            if (WrongKind)
                return;
            MembersAhead.Look(ref record, members);
            to.Array(members.Count);
            for (Operands.Reader reader = members.Read(); reader.Next();)
                to.Int(Members.Find(ref record, EntryForm.Member, reader.Bytes, reader.Length, out _) ? 1 : 0);
        }
    }
}

internal readonly struct SCard : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SCARD", 2, CommandFlags.ReadOnly | CommandFlags.Fast, "RO", "key", "Returns the number of members of a set.");

    public static Reply Run(ref Call call) => CollectionCalls.Count(ref call, RecordKind.Set);
}

internal readonly struct SMembers : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SMEMBERS", 2, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key", "Returns all members of a set.") with { Complexity = "O(N)", Tips = "nondeterministic_output_order" };

    public static Reply Run(ref Call call)
    {
        var walk = new SetWalk(call.Out);
        if (CollectionCalls.Examine(ref call, ref walk) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, walk.WrongKind);
        call.Out.Set(0);
        return Reply.Sent;
    }
}

/// <summary>Replies all members of a set.</summary>
internal unsafe struct SetWalk(Garnet.Common.Resp.RespWriter to) : IExamine
{
    internal bool WrongKind;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Set;
        if (WrongKind)
            return;
        to.Set((int)Root.Count(record.Value));
        for (var walk = default(MemberWalk); walk.Next(ref record, EntryForm.Member);)
            to.Bulk(walk.Current.KeySpan);
    }
}

internal readonly struct SRandMember : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SRANDMEMBER", -2, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key [count]", "Returns random members of a set.") with { Complexity = "O(N)", Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call) =>
        call.Count > 3 ? call.Fail(Fault.Syntax) : RandomChoice.Run(ref call, default, EntryForm.Member, RecordKind.Set);
}

internal readonly struct SMove : ICommand
{
    private static readonly KeyEvent Taken = new("srem", NotifyClasses.Set) { Empties = true }, Put = new("sadd", NotifyClasses.Set);

    public static CommandSpec Spec => SetCommands.Spec("SMOVE", 4, CommandFlags.Write | CommandFlags.Fast, "RW ACCESS DELETE", "source destination member", "Moves a member from one set to another.") with { Keys = KeySpec.Two with { Usage = "RW ACCESS DELETE", RestUsage = "RW INSERT" } };

    public static unsafe Reply Run(ref Call call)
    {
        call.Session.Room.Ensure(0);
        KeyRef source = call.Key, target = call.KeyAt(2);
        Span<KeyRef> both = [source, target];
        call.Session.Lock(both);
        int noted = call.Worker.Notes.Count;
        Outcome outcome = Move(ref call, in source, in target, out bool wrongKind, out bool moved);
        call.Session.Unlock();
        Telling.LastFirst(ref call, noted);
        Telling.Tell(ref call, Taken, Put);
        if (wrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(moved ? 1 : 0) : call.From(outcome);
    }

    private static unsafe Outcome Move(ref Call call, in KeyRef source, in KeyRef target, out bool wrongKind, out bool moved)
    {
        var member = new Operands(call.Args + 3, 1);
        moved = wrongKind = false;
        var there = new ContainsLook(call.Args[3].Bytes, call.Args[3].Length);
        if (call.Session.Examine(in source, ref there) == Outcome.NotFound)
            return Outcome.Unchanged;
        var kind = default(CountLook);
        bool exists = call.Session.Examine(in target, ref kind) == Outcome.Done;
        wrongKind = there.WrongKind || (exists && kind.Kind != RecordKind.Set);
        if (wrongKind || !there.Found)
            return Outcome.Unchanged;
        moved = true;
        if (call[1].SequenceEqual(call[2]))
            return Outcome.Unchanged;
        // Added first: there may be no memory for that, and then the member stays where it is.
        SetAdd add = SetCommands.Adding(ref call, member);
        Outcome outcome = call.Session.Edit(in target, ref add);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return outcome;
        var remove = new RemoveMembers { Kind = RecordKind.Set, Keys = member };
        call.Session.Edit(in source, ref remove);
        return Outcome.Done;
    }
}

internal readonly struct SScan : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SSCAN", -3, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key cursor [MATCH pattern] [COUNT count]", "Iterates over the members of a set.") with { Since = "2.8.0", Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call) => ScanPage.Run(ref call, RecordKind.Set, EntryForm.Member, default);
}
