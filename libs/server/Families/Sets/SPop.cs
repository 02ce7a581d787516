using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Sets;

/// <summary>Removes random members. They are chosen before the change: the log has the removal of just these.</summary>
internal readonly struct SPop : ICommand
{
    public static CommandSpec Spec => SetCommands.Spec("SPOP", -2, CommandFlags.Write | CommandFlags.Fast, "RW ACCESS DELETE", "key [count]", "Removes random members of a set and returns them.") with { Complexity = "O(N)", Tips = "nondeterministic_output", Event = new("spop", NotifyClasses.Set) { Empties = true } };

    public static unsafe Reply Run(ref Call call)
    {
        long wanted = 1;
        if (call.Count > 3)
            return call.Fail(Fault.Syntax);
        if (call.Count == 3 && (!call.TryInt64(2, out wanted) || wanted < 0))
            return call.Fail(Fault.NotPositive);
        KeyRef key = call.Key;
        var choice = new PopChoice { Wanted = wanted, Random = call.Worker.Draws.Next(call.Client) };
        try
        {
            call.Session.Lock(new ReadOnlySpan<KeyRef>(in key));
            bool exists = call.Session.Examine(in key, ref choice) == Outcome.Done;
            Operands members = default;
            if (choice.Takes)
            {
                members = OperandText.Read(choice.Chosen);
                Remove(ref call, in key, members, choice.Everything);
            }

            call.Session.Unlock();
            return !exists && call.Count == 2 ? call.Null() : choice.WrongKind ? call.Fail(Fault.WrongType) : Show(ref call, members);
        }
        finally
        {
            choice.Chosen.Free(); // common.Q1
        }
    }

    private static void Remove(ref Call call, in KeyRef key, in Operands members, bool everything)
    {
        if (everything)
        {
            var delete = default(DeleteKey);
            call.Session.Modify(in key, ref delete);
            return;
        }

        var remove = new RemoveMembers { Kind = RecordKind.Set, Keys = members };
        call.Session.Edit(in key, ref remove);
    }

    private static Reply Show(ref Call call, in Operands members)
    {
        if (call.Count == 3)
            call.Out.Set(members.Count);
        for (Operands.Reader reader = members.Read(); reader.Next();)
            call.Out.Bulk(reader.Span);
        return Reply.Sent;
    }

    /// <summary>Chooses so many members, as operands.</summary>
    private unsafe struct PopChoice : IExamine
    {
        internal long Wanted;
        internal RandomBits Random;
        internal ByteQueue Chosen;
        internal bool WrongKind;
        internal bool Everything;

        internal readonly bool Takes => Chosen.Count != 0;

        public void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.Set;
            if (WrongKind)
                return;
            long left = Root.Count(record.Value), wanted = Math.Min(Wanted, left);
            Everything = wanted == left;
            if (wanted == 1)
            {
                Add(Members.Random(ref record, EntryForm.Member, ref Random).KeySpan);
                return;
            }

            for (var walk = default(MemberWalk); wanted > 0 && walk.Next(ref record, EntryForm.Member);)
            {
                if (Random.Below((ulong)left--) >= (ulong)wanted)
                    continue;
                Add(walk.Current.KeySpan);
                wanted--;
            }
        }

        private void Add(ReadOnlySpan<byte> member) => OperandText.Append(ref Chosen, member);
    }
}
