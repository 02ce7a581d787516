using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>
/// SORT and SORT_RO. Which other keys are looked at follows from the elements, so with BY or GET all partitions are locked meanwhile;
/// without, only the key's and the target's are.
/// </summary>
internal static class SortCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Sort>();
        table.Add<SortRo>();
    }

    internal static CommandSpec Spec(string name, CommandFlags flags, string more, string since) =>
        new(name, -2, flags | CommandFlags.MovableKeys | CommandFlags.OtherKeys, KeySpec.One with { Usage = "RO ACCESS" })
        {
            Group = "generic", Syntax = $"key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]{more}",
            Summary = "Sorts the elements of a list, a set or a sorted set.", Since = since, Complexity = "O(N+M*log(M))",
            Categories = "list set sortedset dangerous -keyspace",
        };

    internal static Reply Run(ref Call call, bool stores)
    {
        var order = new SortOrder();
        if (!order.TryParse(ref call, stores, out Reply failed))
            return failed;
        call.Session.Room.Ensure(0);
        KeyRef source = call.Key, target = order.StoreAt > 0 ? call.KeyAt(order.StoreAt) : source;
        if (order.LooksElsewhere && call.MayPark) // a transaction holds them all
            call.Session.LockAll();
        else
            call.Session.Lock([source, target]);
        var elements = new SortSource();
        call.Session.Examine(in source, ref elements);
        var rows = default(List<byte[]?>);
        if (!elements.IsWrongKind)
            rows = order.Apply(new SortPattern(call.Worker, call.Namespace), elements, BytesMax(ref call, order));
        Outcome outcome = rows is not null && order.StoreAt > 0 ? Keep(ref call, in target, rows) : Outcome.Done;
        call.Session.Unlock();
        if (elements.IsWrongKind)
            return call.Fail(Fault.WrongType);
        if (rows is null)
            return call.FailBytes("ERR One or more scores can't be converted into double"u8);
        if (outcome != Outcome.Done)
            return call.From(outcome);
        return order.StoreAt > 0 ? call.Int(rows.Count) : Show(ref call, rows);
    }

    private static long BytesMax(ref Call call, SortOrder order) =>
        order.StoreAt > 0 ? Math.Min(call.Session.Room.LogBytesMax, ByteQueue.BytesMax) : call.Worker.ReplyBytesMax(call.Client);

    private static unsafe Outcome Keep(ref Call call, in KeyRef target, List<byte[]?> rows)
    {
        var text = default(ByteQueue);
        try
        {
            foreach (byte[]? row in rows)
                OperandText.Append(ref text, row ?? []);
            using var replacing = new Replacing(call.Session, target);
            if (!replacing.TryBegin(text.Count, 1, text.Count))
                return Outcome.OutOfMemory;
            if (rows.Count == 0)
                return replacing.End(Outcome.Done);
            Operands values = OperandText.Read(text);
            var push = new ListPush { Values = values, Limits = ListLimits.Of(call.Server.Settings.Encoding) };
            return replacing.End(call.Session.Edit(in target, ref push));
        }
        finally
        {
            text.Free(); // common.Q1
        }
    }

    private static Reply Show(ref Call call, List<byte[]?> rows)
    {
        call.Out.Array(rows.Count);
        foreach (byte[]? row in rows)
        {
            if (row is null)
                call.Out.Null();
            else
                call.Out.Bulk(row);
        }

        return Reply.Sent;
    }
}

internal readonly struct Sort : ICommand
{
    public static CommandSpec Spec => SortCommands.Spec("SORT", CommandFlags.Write | CommandFlags.DenyOom, " [STORE destination]", "1.0.0") with { Keys = KeySpec.One with { Usage = "RO ACCESS", StoreFrom = 2 }, Event = new KeyEvent("sortstore", NotifyClasses.List) { Replaces = true } };

    public static Reply Run(ref Call call) => SortCommands.Run(ref call, stores: true);
}

internal readonly struct SortRo : ICommand
{
    public static CommandSpec Spec => SortCommands.Spec("SORT_RO", CommandFlags.ReadOnly, "", "7.0.0");

    public static Reply Run(ref Call call) => SortCommands.Run(ref call, stores: false);
}
