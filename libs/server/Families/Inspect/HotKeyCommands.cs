using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;

namespace Garnet.Server.Families.Inspect;

/// <summary>HOTKEYS (Redis 8.6): which keys take most time and most bytes while a tracking session is under way.</summary>
internal static class HotKeyCommands
{
    /// <summary>The last of Redis Cluster's hash slots: without a cluster, all of them are looked at.</summary>
    internal const int SlotLast = 16_383;

    /// <summary>How many keys are told.</summary>
    internal const int CountByDefault = 10, CountMax = 64;

    /// <summary>What is said of more, or none.</summary>
    internal static ReadOnlySpan<byte> CountError => "ERR COUNT must be between 1 and 64"u8;

    internal static void Register(CommandTable table)
    {
        table.AddContainer(Spec("HOTKEYS", "", "Looks for the keys that take most time and bytes.", -2));
        table.Add<HotKeysStart>();
        table.Add<HotKeysStop>();
        table.Add<HotKeysGet>();
        table.Add<HotKeysReset>();
        table.Add<HotKeysRecent>();
    }

    internal static CommandSpec Spec(string name, string syntax, string summary, int arity = 2) =>
        new(name, arity, CommandFlags.Admin | CommandFlags.NoScript)
        {
            Group = "server",
            Syntax = syntax,
            Summary = summary,
            Since = "8.6.0",
        };
}

internal readonly struct HotKeysStart : ICommand
{
    private const int SecondsMax = 1_000_000;

    public static CommandSpec Spec => HotKeyCommands.Spec("HOTKEYS|START",
        "METRICS count [CPU] [NET] [COUNT k] [DURATION seconds] [SAMPLE ratio] [SLOTS count slot [slot ...]]",
        "Begins to look at which keys take most.", -2);

    public static Reply Run(ref Call call)
    {
        HotKeys hotKeys = call.Server.Monitoring.HotKeys;
        if (!TryParse(ref call, out HotKeyOptions options, out Reply failed))
            return failed;
        int workers = call.Server.Workers.All.Length;
        long nowMs = call.NowMs;
        return hotKeys.TryStart(() => new HotKeySession(options, workers, nowMs, Environment.CpuUsage), nowMs)
            ? call.Ok()
            : call.FailBytes("ERR hotkey tracking session already in progress"u8);
    }

    private static bool TryParse(ref Call call, out HotKeyOptions options, out Reply failed)
    {
        options = new HotKeyOptions(false, false, HotKeyCommands.CountByDefault, 0, 1);
        failed = Reply.Sent;
        if (call.Count < 4 || !call.Is(2, "METRICS"u8))
            failed = call.FailBytes("ERR METRICS parameter is required"u8);
        else if (!call.TryInt64(3, out long metrics) || metrics is < 1 or > 2)
            failed = call.FailBytes("ERR METRICS count must be > 0 and <= 2"u8);
        else if (call.Count - 4 < metrics)
            failed = call.FailBytes("ERR METRICS count does not match number of metric types provided"u8);
        else
            return TryMetrics(ref call, 4 + (int)metrics, ref options, out failed)
                && TryRest(ref call, 4 + (int)metrics, ref options, out failed);
        return false;
    }

    // A word that is none of them is passed over, as in Redis, as long as one is.
    private static bool TryMetrics(ref Call call, int end, ref HotKeyOptions options, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = 4; i < end; i++)
        {
            bool isTime = call.Is(i, "CPU"u8), isBytes = call.Is(i, "NET"u8);
            if ((isTime && options.TracksTime) || (isBytes && options.TracksBytes))
            {
                failed = call.FailText($"ERR METRICS {(isTime ? "CPU" : "NET")} defined more than once!");
                return false;
            }

            options = options with { TracksTime = options.TracksTime | isTime, TracksBytes = options.TracksBytes | isBytes };
        }

        if (!options.TracksTime && !options.TracksBytes)
            failed = call.FailBytes("ERR METRICS no valid metrics passed. Supported: CPU|NET"u8);
        return failed == Reply.Sent;
    }

    private static bool TryRest(ref Call call, int from, ref HotKeyOptions options, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = from; i < call.Count && failed == Reply.Sent; i += 2)
        {
            bool isLast = i + 1 == call.Count;
            if (!isLast && call.Is(i, "COUNT"u8))
            {
                if (TryNumber(ref call, i + 1, HotKeyCommands.CountMax, HotKeyCommands.CountError, out long count, out failed))
                    options = options with { Count = (int)count };
            }
            else if (!isLast && call.Is(i, "DURATION"u8))
            {
                if (TryNumber(ref call, i + 1, SecondsMax, "ERR DURATION must be between 1 and 1000000"u8, out long seconds, out failed))
                    options = options with { DurationMs = seconds * 1000 };
            }
            else if (!isLast && call.Is(i, "SAMPLE"u8))
            {
                if (TryNumber(ref call, i + 1, int.MaxValue, "ERR SAMPLE ratio must be positive"u8, out long ratio, out failed))
                    options = options with { Ratio = (int)ratio };
            }
            else
            {
                failed = !isLast && call.Is(i, "SLOTS"u8)
                    ? call.FailBytes("ERR SLOTS parameter cannot be used in non-cluster mode"u8)
                    : call.Fail(Fault.Syntax);
            }
        }

        return failed == Reply.Sent;
    }

    private static bool TryNumber(ref Call call, int index, long most, ReadOnlySpan<byte> error, out long value, out Reply failed)
    {
        bool isRight = call.TryInt64(index, out value) && value >= 1 && value <= most;
        failed = isRight ? Reply.Sent : call.FailBytes(error);
        return isRight;
    }
}

internal readonly struct HotKeysStop : ICommand
{
    public static CommandSpec Spec => HotKeyCommands.Spec("HOTKEYS|STOP", "", "Ends looking; what was found stays.");

    public static Reply Run(ref Call call)
    {
        HotKeySession? session = call.Server.Monitoring.HotKeys.Session;
        session?.Look(call.NowMs);
        return session is { IsActive: true } && session.Stop(call.NowMs) ? call.Ok() : call.Null();
    }
}

internal readonly struct HotKeysReset : ICommand
{
    public static CommandSpec Spec => HotKeyCommands.Spec("HOTKEYS|RESET", "", "Gives up what was found.");

    public static Reply Run(ref Call call) => call.Server.Monitoring.HotKeys.TryReset(call.NowMs)
        ? call.Ok()
        : call.FailBytes("ERR hotkey tracking session in progress, stop tracking first"u8);
}

internal readonly struct HotKeysGet : ICommand
{
    public static CommandSpec Spec => HotKeyCommands.Spec("HOTKEYS|GET", "", "Returns the keys that took most, and how much.");

    public static Reply Run(ref Call call)
    {
        if (call.Server.Monitoring.HotKeys.Session is not { } session)
            return call.Null();
        session.Look(call.NowMs);
        (long us, long bytes, long keyBytes) = session.Totals();
        bool time = session.Options.TracksTime, net = session.Options.TracksBytes;
        call.Out.Array(1); // one for each node, where there are several
        call.Out.Map(7 + (time ? 3 : 0) + (net ? 2 : 0));
        Field(ref call, "tracking-active"u8, session.IsActive ? 1 : 0);
        Field(ref call, "sample-ratio"u8, session.Options.Ratio);
        call.Out.Bulk("selected-slots"u8);
        call.Out.Array(1);
        call.Out.Array(2);
        call.Out.Int(0);
        call.Out.Int(HotKeyCommands.SlotLast);
        Field(ref call, "all-commands-all-slots-us"u8, us);
        Field(ref call, "net-bytes-all-commands-all-slots"u8, bytes);
        Field(ref call, "collection-start-time-unix-ms"u8, session.StartedMs);
        Field(ref call, "collection-duration-ms"u8, session.TookMs(call.NowMs));
        if (time)
        {
            (long userMs, long systemMs) = session.Processor(Environment.CpuUsage);
            Field(ref call, "total-cpu-time-user-ms"u8, userMs);
            Field(ref call, "total-cpu-time-sys-ms"u8, systemMs);
        }

        if (net)
            Field(ref call, "total-net-bytes"u8, keyBytes);
        if (time)
            List(ref call, "by-cpu-time-us"u8, session.ByTime());
        if (net)
            List(ref call, "by-net-bytes"u8, session.ByBytes());
        return Reply.Sent;
    }

    private static void Field(ref Call call, ReadOnlySpan<byte> name, long value)
    {
        call.Out.Bulk(name);
        call.Out.Int(value);
    }

    private static void List(ref Call call, ReadOnlySpan<byte> name, List<KeyWeight> keys)
    {
        call.Out.Bulk(name);
        call.Out.Array(2 * keys.Count);
        foreach (KeyWeight key in keys)
        {
            call.Out.Bulk(key.Name);
            call.Out.Int(key.Weight);
        }
    }
}

/// <summary>Ours, not of Redis: what is looked at all the time.</summary>
internal readonly struct HotKeysRecent : ICommand
{
    public static CommandSpec Spec => HotKeyCommands.Spec("HOTKEYS|RECENT", "[COUNT k]",
        "Returns the keys that were named most in the last half minute, and their share of commands on keys in per cent.", -2)
        with { Since = "0.1.0" };

    public static Reply Run(ref Call call)
    {
        long count = HotKeyCommands.CountByDefault;
        if (call.Count != 2 && (call.Count != 4 || !call.Is(2, "COUNT"u8)))
            return call.Fail(Fault.Syntax);
        if (call.Count == 4 && (!call.TryInt64(3, out count) || count is < 1 or > HotKeyCommands.CountMax))
            return call.FailBytes(HotKeyCommands.CountError);
        List<(byte[] Name, double Share)> keys = call.Server.Monitoring.RecentKeys.Top((int)count, call.NowMs);
        call.Out.Array(keys.Count);
        foreach ((byte[] name, double share) in keys)
        {
            call.Out.Array(2);
            call.Out.Bulk(name);
            call.Out.Double(Math.Round(100 * share, 2));
        }

        return Reply.Sent;
    }
}
