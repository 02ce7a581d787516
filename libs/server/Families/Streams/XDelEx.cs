using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

internal readonly struct XDelEx : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XDELEX", -5, CommandFlags.Write | CommandFlags.Fast, "RW DELETE", "key [KEEPREF | DELREF | ACKED] IDS numids id [id ...]", "Deletes entries of a stream with regard to the groups that refer to them.") with { Since = "8.2.0", Event = new("xdel", NotifyClasses.Stream) };

    public static Reply Run(ref Call call) => Delete(ref call, 2, 0);

    /// <summary>Reads options from an argument on and deletes; a group, if its argument is given, acknowledges the entries first.</summary>
    internal static unsafe Reply Delete(ref Call call, int first, int group)
    {
        bool hasPolicy = TrimOptions.TryPolicy(ref call, first, out ReferencePolicy policy);
        int words = hasPolicy ? first + 1 : first, ids = words + 2;
        if (words >= call.Count || !call.Is(words, "IDS"u8) || ids > call.Count)
            return call.Fail(Fault.Syntax);
        if (!call.TryInt64(words + 1, out long count) || count < 1)
            return call.FailBytes("ERR Number of IDs must be a positive integer"u8);
        if (count != call.Count - ids)
            return call.FailBytes("ERR The `numids` parameter must match the number of arguments"u8);
        var kind = default(CountLook);
        bool exists = CollectionCalls.Examine(ref call, ref kind, quiet: true) == Outcome.Done;
        if (exists && kind.Kind != RecordKind.Stream)
            return call.Fail(Fault.WrongType);
        if (!StreamCommands.AreIds(ref call, ids, (int)count))
            return Reply.Failed;
        var delete = new StreamDelete
        {
            Ids = new StreamIds(call.Args + ids, (int)count),
            Policy = policy,
            Group = group > 0 ? new Operands(call.Args + group, 1) : default,
            To = call.Out,
        };
        if (exists)
            CollectionCalls.Edit(ref call, ref delete);
        if (delete.WrongKind)
            return call.Fail(Fault.WrongType);
        if (delete.Found)
        {
            Telling.Tell(ref call, delete.Deleted > 0 ? Spec.Event : null);
            return Reply.Sent;
        }

        call.Out.Array((int)count);
        for (int i = 0; i < count; i++)
            call.Out.Int(-1);
        return Reply.Sent;
    }
}

internal readonly struct XAckDel : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XACKDEL", -6, CommandFlags.Write | CommandFlags.Fast, "RW DELETE", "key group [KEEPREF | DELREF | ACKED] IDS numids id [id ...]", "Ends that entries are pending for a group and deletes them with regard to the others that refer to them.") with { Since = "8.2.0" };

    public static Reply Run(ref Call call) => XDelEx.Delete(ref call, 3, 2);
}
