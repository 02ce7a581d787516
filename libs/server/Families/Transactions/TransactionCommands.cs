using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Server.Transactions;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Families.Transactions;

/// <summary>Several commands as one step: MULTI, EXEC, DISCARD, WATCH, UNWATCH.</summary>
internal static class TransactionCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Multi>();
        table.Add<Exec>();
        table.Add<Discard>();
        table.Add<WatchKeys>();
        table.Add<Unwatch>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string summary, string since) =>
        new(name, arity, flags | CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale)
        {
            Group = "transactions",
            Summary = summary,
            Since = since,
        };
}

internal readonly struct Multi : ICommand
{
    public static CommandSpec Spec => TransactionCommands.Spec("MULTI", 1, CommandFlags.Fast | CommandFlags.AllowBusy | CommandFlags.Immediate, "Begins a transaction: the commands that follow are kept for EXEC.", "1.2.0");

    public static Reply Run(ref Call call)
    {
        if ((call.Client.Modes & ClientModes.Transaction) != 0)
            return call.FailBytes("ERR MULTI calls can not be nested"u8);
        TransactionQueue.Begin(call.Client);
        return call.Ok();
    }
}

internal readonly struct Exec : ICommand
{
    public static CommandSpec Spec => TransactionCommands.Spec("EXEC", 1, CommandFlags.SkipSlowlog | CommandFlags.Immediate | CommandFlags.RunsQueue, "Runs the commands of the transaction as one step, unless a watched key has changed.", "1.2.0") with { Complexity = "Depends on the commands." };

    public static Reply Run(ref Call call) =>
        (call.Client.Modes & ClientModes.Transaction) != 0
            ? ((TransactionQueue)call.Worker.Transactions).Exec(ref call)
            : call.FailBytes("ERR EXEC without MULTI"u8);
}

internal readonly struct Discard : ICommand
{
    public static CommandSpec Spec => TransactionCommands.Spec("DISCARD", 1, CommandFlags.Fast | CommandFlags.AllowBusy | CommandFlags.Immediate, "Gives up the transaction and all watching.", "2.0.0") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if ((call.Client.Modes & ClientModes.Transaction) == 0)
            return call.FailBytes("ERR DISCARD without MULTI"u8);
        call.Server.Observers.Watches.EndTransaction(call.Client);
        return call.Ok();
    }
}

internal readonly struct WatchKeys : ICommand
{
    public static CommandSpec Spec => TransactionCommands.Spec("WATCH", -2, CommandFlags.Fast | CommandFlags.AllowBusy | CommandFlags.Immediate, "Makes the next EXEC do nothing if one of the keys changes before.", "2.2.0") with { Keys = KeySpec.All with { Usage = "RO" }, Misses = KeyMisses.None, Syntax = "key [key ...]", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if ((call.Client.Modes & ClientModes.Transaction) != 0)
            return call.FailBytes("ERR WATCH inside MULTI is not allowed"u8);
        Transaction transaction = call.Client.Transaction ??= new Transaction();
        if (transaction.Touched)
            return call.Ok();
        if (transaction.Watched is null)
        {
            transaction.Watched = new WatchedKeys();
            call.Server.Observers.Watches.Begin();
        }

        for (int i = 1; i < call.Count; i++)
        {
            Add(ref call, transaction.Watched, i);
            if (transaction.MemoryBytes > call.Server.ClientLimits.QueryBufferLimit)
                return TransactionQueue.Overflow(ref call);
        }

        return call.Ok();
    }

    private static void Add(ref Call call, WatchedKeys watched, int index)
    {
        WatchTable table = call.Server.Observers.Watches;
        ulong hash = call.HashAt(index);
        if (table.Has(watched, call.Client.Database, call[index], hash))
            return;
        KeyRef key = call.LockKeyAt(index);
        var look = default(FieldsLook);
        bool exists = call.Session.Read(in key, ref look, quiet: true) == Outcome.Done;
        var watch = new Watch(watched, call.Client.Database, call[index], hash, exists ? look.ExpireAtMs : Watch.NotThere);
        table.Add(watch);
        call.Session.Unlock();
        watched.Add(watch);
    }
}

internal readonly struct Unwatch : ICommand
{
    public static CommandSpec Spec => TransactionCommands.Spec("UNWATCH", 1, CommandFlags.Fast | CommandFlags.AllowBusy, "Gives up all watching.", "2.2.0");

    public static Reply Run(ref Call call)
    {
        call.Server.Observers.Watches.Unwatch(call.Client);
        return call.Ok();
    }
}
