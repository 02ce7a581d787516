using Garnet.Common;

namespace Garnet.Server;

/// <summary>What CONFIG SET changes beyond the property: one line per setting whose owner keeps something derived from it.</summary>
internal static class LiveSettings
{
    internal static void Connect(Server server)
    {
        SettingTable table = server.Table;
        string? Refresh()
        {
            server.ApplySettings();
            return null;
        }

        foreach (string name in (ReadOnlySpan<string>)["proto-max-bulk-len", "client-query-buffer-limit", "client-output-buffer-limit", "requirepass", "timeout", "maxmemory-clients", "slowlog-log-slower-than", "commandlog-request-larger-than", "commandlog-reply-larger-than", "latency-monitor-threshold"])
        {
            if (table.TryFind(name, out _))
                table.OnSet(name, Refresh);
        }

        Connect(table, "maxclients", () => server.FitClients() ? null : "the limit of open files (ulimit -n) does not allow so many clients");
        Connect(table, "maxmemory", () =>
        {
            server.MemoryLimitBytes = MemoryPlan.LimitBytes(server.Settings.Memory.MaxMemoryBytes);
            server.Replication.TakeMemorySettings();
            return null;
        });
        Connect(table, "maxmemory-policy", () =>
        {
            server.Replication.TakeMemorySettings();
            return null;
        });
        foreach (string name in (ReadOnlySpan<string>)["appendfsync", "aof-step-max-size"])
        {
            Connect(table, name, () =>
            {
                server.Keeper?.TakeSettings();
                return null;
            });
        }

        foreach (string name in (ReadOnlySpan<string>)["repl-backlog-size", "min-replicas-to-write"])
        {
            Connect(table, name, () =>
            {
                server.Replication.TakeSettings();
                return null;
            });
        }

        Connect(table, "slowlog-max-len", () =>
        {
            server.Slowlog.Trim();
            return null;
        });
        Connect(table, "notify-keyspace-events", () =>
        {
            server.Changes.Listen();
            return null;
        });
        Connect(table, "commandlog-large-request-max-len", () =>
        {
            server.LargeRequests.Trim();
            return null;
        });
        Connect(table, "commandlog-large-reply-max-len", () =>
        {
            server.LargeReplies.Trim();
            return null;
        });
    }

    private static void Connect(SettingTable table, string name, Func<string?> apply)
    {
        if (table.TryFind(name, out _))
            table.OnSet(name, apply);
    }
}
