using System.Reflection;
using Garnet.Common;
using Garnet.Host.Operate;
using Garnet.Server;
using Microsoft.Extensions.Logging;

namespace Garnet.Host;

/// <summary>What a server says when it is up: version, addresses, memory, persistence, security, and one fix per warning.</summary>
internal static class Banner
{
    // A limit below twice what an empty server takes leaves no room for a segment of values.
    private const int LeastLimit = 2;
    private const long UsefulLimitBytes = 16 << 20;

    public static string Version { get; } = typeof(Banner).Assembly.GetName().Version?.ToString(3) ?? "0.0.0";

    public static string Name => $"Garnet {Version}";

    /// <summary>Said at the start.</summary>
    /// <param name="log">Where to.</param>
    /// <param name="server">Who has started.</param>
    /// <param name="settings">With what.</param>
    /// <param name="notices">What is to be said of its settings.</param>
    /// <param name="given">How whoever started it gives a setting, by its name, a value.</param>
    public static void Write(
        ILogger log, RespServer server, ServerSettings settings, IEnumerable<string> notices, Func<string, string, string> given)
    {
        Say(log, LogLevel.Information,
            $"{Name}, speaks the protocol of redis {settings.Inspect.RedisVersion}, process {Environment.ProcessId}");
        Say(log, LogLevel.Information, $"Listening on {string.Join(", ", server.Addresses)}");
        string origin = settings.Memory.MaxMemoryBytes > 0 ? "as set by maxmemory"
            : $"{MemoryPlan.SharePercent(settings.HasTier)} % of what there is; maxmemory changes it";
        string pages = server.HugePages ? ", huge pages" : "";
        string policy = settings.Memory.Policy == Tsavorite.EvictionPolicy.NoEviction ? "refuses writes when full" : "evicts when full";
        Say(log, LogLevel.Information, $"Memory: {SettingText.PrintMemory(server.MemoryLimitBytes)} ({origin}), {policy}{pages}");
        if (MachineChecks.MemoryLimit(Machine.Own, settings) is { } beyond)
            Say(log, LogLevel.Warning, $"{beyond.What}: {beyond.Why}. {beyond.Next}");
        if (server.MemoryLimitBytes < server.FixedMemoryBytes * LeastLimit)
            Say(log, LogLevel.Warning, "maxmemory is too small to hold anything: "
                + $"the server itself takes {SettingText.PrintMemory(server.FixedMemoryBytes)} of it. "
                + $"Set {SettingText.PrintMemory(Math.Max(UsefulLimitBytes, server.FixedMemoryBytes * LeastLimit))} or more");
        foreach ((bool isWarning, string text) in server.TierPlan)
            Say(log, isWarning ? LogLevel.Warning : LogLevel.Information, text);
        Say(log, LogLevel.Information, "Persistence: " + PersistenceOf(server, settings.Persistence, given));
        foreach ((bool isWarning, string text) in server.LogMemoryPlan)
            Say(log, isWarning ? LogLevel.Warning : LogLevel.Information, text);
        string password = server.NeedsPassword ? "password required" : "no password";
        string mode = settings.Security.ProtectedMode ? "on" : "off";
        Say(log, LogLevel.Information, $"Security: {password}, protected mode {mode}");
        foreach (string notice in notices) Say(log, LogLevel.Warning, notice);
        if (server.IsOpenToNetwork)
            Say(log, LogLevel.Warning, "Anybody who reaches the port can read and delete everything: set requirepass, or bind 127.0.0.1");
    }

    /// <summary>Said when the data is loaded.</summary>
    public static void WriteReady(ILogger log) => Say(log, LogLevel.Information, "Ready to accept connections");

    private static string PersistenceOf(RespServer server, PersistenceSettings settings, Func<string, string, string> given)
    {
        if (server.DataDirectory is not { } directory)
            return $"none; data is in memory only and gone after a restart; {given("dir", "DIRECTORY")} keeps it";
        if (!settings.AppendOnly && settings.Save.Rules.Count == 0)
            return $"nothing is kept in {directory} but what SAVE and BGSAVE are asked for; "
                + $"{given("appendonly", "yes")}, or save points, keep it";
        if (!settings.AppendOnly)
            return $"snapshots only, in {directory}; what changed since the last one is gone after a restart; "
                + $"{given("appendonly", "yes")} keeps it";
        string synced = settings.AppendSync switch
        {
            AppendSync.Always => "synced before every reply",
            AppendSync.No => $"synced when the system likes; {given("appendfsync", "everysec")} bounds what a power cut costs to a second",
            _ => "synced every second",
        };
        return $"append-only file in {directory}, {synced}";
    }

    private static void Say(ILogger log, LogLevel level, string text)
        => log.Log(level, default, text, null, static (state, _) => state);
}
