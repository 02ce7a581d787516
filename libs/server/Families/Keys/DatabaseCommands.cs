using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Keys;

/// <summary>Whole databases: SELECT, SWAPDB, FLUSHDB, FLUSHALL.</summary>
internal static class DatabaseCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Select>();
        table.Add<SwapDb>();
        table.Add<FlushDb>();
        table.Add<FlushAll>();
    }

    /// <summary>
    /// After whole databases were changed, still in the turn (scripting.G4). The change stands in the log as a closed batch: the reply may have
    /// to wait for it.
    /// </summary>
    internal static void End(ref Call call)
    {
        if (call.Server.Replication.Log.Leading is { } log)
            call.Session.LastBatch = log.Batch - 1;
    }

    /// <summary>
    /// After databases were emptied, behind the turn: others run on while their memory is given back. Where there is a tier nobody waits for that: of much that lies there
    /// only a read says which database it is of.
    /// </summary>
    internal static Reply EndFlush(ref Call call, bool wait)
    {
        if ((wait && call.Session.Tier is null) || call.Worker.Store.Namespaces.IsBehind)
            call.Worker.Store.Namespaces.Reclaim();
        call.Server.Observers.Tracker.Flushed(call.Worker);
        return call.Ok();
    }

    /// <summary>Reads ASYNC or SYNC; on false the error has been written.</summary>
    internal static bool TryMode(ref Call call, out bool wait, out Reply failed)
    {
        failed = Reply.Sent;
        wait = !call.Server.Settings.Memory.LazyUserFlush;
        if (call.Worker.Store.Namespaces.IsFull)
        {
            failed = call.FailText("ERR a transaction or script has flushed databases a thousand times: "
                + "what was in them is emptied behind it only, use several");
            return false;
        }
        if (call.Count == 1)
            return true;
        bool async = call.Is(1, "ASYNC"u8);
        wait = !async;
        if (call.Count == 2 && (async || call.Is(1, "SYNC"u8)))
            return true;
        failed = call.Fail(Fault.Syntax);
        return false;
    }
}

internal readonly struct Select : ICommand
{
    public static CommandSpec Spec => new("SELECT", 2, CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast) { Group = "connection", Syntax = "index", Summary = "Changes the database of the connection.", Databases = DatabaseReach.Named };

    public static Reply Run(ref Call call)
    {
        if (!KeyCommands.TryDatabase(ref call, 1, out int database, out Reply failed))
            return failed;
        call.Client.Database = database;
        return call.Ok();
    }
}

internal readonly struct SwapDb : ICommand
{
    public static CommandSpec Spec => new("SWAPDB", 3, CommandFlags.Write | CommandFlags.Fast | CommandFlags.WholeDatabases | CommandFlags.Alone) { Group = "server", Syntax = "index1 index2", Summary = "Swaps two databases.", Databases = DatabaseReach.Named, Since = "4.0.0", Categories = "keyspace dangerous" };

    public static Reply Run(ref Call call)
    {
        if (!TryIndex(ref call, 1, out long first))
            return call.FailBytes("ERR invalid first DB index"u8);
        if (!TryIndex(ref call, 2, out long second))
            return call.FailBytes("ERR invalid second DB index"u8);
        long count = call.Server.Settings.Memory.Databases;
        if (first < 0 || first >= count || second < 0 || second >= count)
            return call.Fail(Fault.DatabaseOutOfRange);
        if (first == second)
            return call.Ok();
        if (!call.Server.ScriptTurns.TryBegin(call.Worker, out ScriptTurns.AloneTurn turn))
            return ScriptHost.Of(call.Worker).Busy(ref call);
        using (turn)
        {
            call.Worker.Store.Namespaces.Swap((int)first, (int)second);
            DatabaseCommands.End(ref call);
        }

        call.Server.Observers.Tracker.Flushed(call.Worker);
        return call.Ok();
    }

    private static bool TryIndex(ref Call call, int index, out long number) =>
        call.TryInt64(index, out number) && number is >= int.MinValue and <= int.MaxValue;
}

internal readonly struct FlushDb : ICommand
{
    public static CommandSpec Spec => new("FLUSHDB", -1, CommandFlags.Write | CommandFlags.WholeDatabases | CommandFlags.Alone) { Group = "server", Syntax = "[ASYNC | SYNC]", Summary = "Removes all keys of the database.", Complexity = "O(1)", Categories = "keyspace dangerous" };

    public static Reply Run(ref Call call)
    {
        if (!DatabaseCommands.TryMode(ref call, out bool wait, out Reply failed))
            return failed;
        if (!call.Server.ScriptTurns.TryBegin(call.Worker, out ScriptTurns.AloneTurn turn))
            return ScriptHost.Of(call.Worker).Busy(ref call);
        using (turn)
        {
            call.Worker.Store.Namespaces.Flush(call.Client.Database, wait: false);
            DatabaseCommands.End(ref call);
        }

        return DatabaseCommands.EndFlush(ref call, wait);
    }
}

internal readonly struct FlushAll : ICommand
{
    public static CommandSpec Spec => new("FLUSHALL", -1, CommandFlags.Write | CommandFlags.WholeDatabases | CommandFlags.Alone) { Group = "server", Syntax = "[ASYNC | SYNC]", Summary = "Removes all keys of all databases.", Databases = DatabaseReach.All, Complexity = "O(1)", Categories = "keyspace dangerous" };

    public static Reply Run(ref Call call)
    {
        if (!DatabaseCommands.TryMode(ref call, out bool wait, out Reply failed))
            return failed;
        if (!call.Server.ScriptTurns.TryBegin(call.Worker, out ScriptTurns.AloneTurn turn))
            return ScriptHost.Of(call.Worker).Busy(ref call);
        using (turn)
        {
            call.Worker.Store.Namespaces.FlushAll(wait: false);
            DatabaseCommands.End(ref call);
        }

        return DatabaseCommands.EndFlush(ref call, wait);
    }
}
