using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Persistence;

namespace Garnet.Server.Families.Persistence;

/// <summary>Snapshots and durability on request: SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF, WAITAOF.</summary>
internal static class SaveCommands
{
    private const string NoDirectory = "ERR this server keeps no data on disk: start it with --dir";

    internal static ReadOnlySpan<byte> AlreadySaves => "ERR Background save already in progress"u8;

    internal static void Register(CommandTable table)
    {
        table.Add<Save>();
        table.Add<BgSave>();
        table.Add<LastSave>();
        table.Add<BgRewriteAof>();
        table.Add<WaitAof>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary, string since = "1.0.0") =>
        new(name, arity, flags) { Group = "server", Syntax = syntax, Summary = summary, Since = since };

    /// <summary>The snapshots of this server; false if it has none, with what was answered.</summary>
    internal static bool TrySaves(ref Call call, out SaveJob saves, out Reply failed)
    {
        failed = Reply.Sent;
        saves = call.Server.Keeper?.Saves!;
        if (saves is not null)
            return true;
        failed = call.FailText(NoDirectory);
        return false;
    }
}

internal readonly struct Save : ICommand
{
    public static CommandSpec Spec => SaveCommands.Spec("SAVE", 1, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.NoMulti, "", "Takes a snapshot and answers when it is on disk.");

    public static Reply Run(ref Call call)
    {
        if (!SaveCommands.TrySaves(ref call, out SaveJob saves, out Reply failed))
            return failed;
        long number = saves.TryStart();
        if (number == 0)
            return call.FailBytes(SaveCommands.AlreadySaves);
        call.Worker.Park(call.Client, new SaveWait(saves, number, stops: null));
        return Reply.Parked;
    }
}

internal readonly struct BgSave : ICommand
{
    public static CommandSpec Spec => SaveCommands.Spec("BGSAVE", -1, CommandFlags.Admin | CommandFlags.NoScript, "[SCHEDULE]", "Starts a snapshot.");

    public static Reply Run(ref Call call)
    {
        if (call.Count > 2 || (call.Count == 2 && !call.Is(1, "SCHEDULE"u8)))
            return call.Fail(Fault.Syntax);
        if (!SaveCommands.TrySaves(ref call, out SaveJob saves, out Reply failed))
            return failed;
        if (saves.TryStart() == 0)
            return call.FailBytes(SaveCommands.AlreadySaves);
        call.Out.Simple("Background saving started"u8);
        return Reply.Sent;
    }
}

internal readonly struct LastSave : ICommand
{
    public static CommandSpec Spec => SaveCommands.Spec("LASTSAVE", 1, CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast, "", "Returns when data was last saved; the start of the server if never.") with { Categories = "admin dangerous" };

    public static Reply Run(ref Call call) => call.Int((call.Server.Keeper?.Saves?.LastSaveMs ?? call.Server.Core.StartedUnixMs) / 1000);
}

internal readonly struct BgRewriteAof : ICommand
{
    public static CommandSpec Spec => SaveCommands.Spec("BGREWRITEAOF", 1, CommandFlags.Admin | CommandFlags.NoScript, "", "Takes a snapshot, then drops the part of the append-only file that it makes needless.");

    public static Reply Run(ref Call call)
    {
        if (!SaveCommands.TrySaves(ref call, out SaveJob saves, out Reply failed))
            return failed;
        if (saves.TryStart() == 0)
            return call.FailBytes("ERR Background append only file rewriting already in progress"u8);
        call.Out.Simple("Background append only file rewriting started"u8);
        return Reply.Sent;
    }
}

internal readonly struct WaitAof : ICommand
{
    public static CommandSpec Spec => new("WAITAOF", 4, CommandFlags.Blocking | CommandFlags.NoScript) { Group = "generic", Syntax = "numlocal numreplicas timeout", Summary = "Waits until the client's changes are synced here and on replicas.", Since = "7.2.0", Categories = "connection -keyspace" };

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(1, out long local) || local is < 0 or > 1)
            return call.FailBytes("ERR value is out of range, must be between 0 and 1"u8);
        if (!call.TryInt64(2, out long replicas) || replicas is < 0 or > int.MaxValue)
            return call.Fail(Fault.NotPositive);
        if (!call.TryInt64(3, out long timeout))
            return call.Fail(Fault.TimeoutNotAnInteger);
        if (timeout < 0)
            return call.Fail(Fault.TimeoutNegative);
        if (call.Server.Replication.IsReplica)
            return call.FailBytes("ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are "u8 +
                "just local and are not propagated."u8);
        if (local > 0 && call.Server.Keeper is not { HasLog: true })
            return call.FailBytes("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."u8);
        LogMark write = call.Client.LastWrite;
        call.Server.Replication.Position.Demand(write);
        if (local > 0)
            call.Server.Keeper!.Log.RequireSync(write);
        var wait = new AckWait(call.Server, write, (int)local, (int)replicas, call.UntilMs(timeout));
        if (wait.Resume(call.Worker, call.Client))
            return Reply.Sent;
        call.Worker.Park(call.Client, wait);
        return Reply.Parked;
    }
}
