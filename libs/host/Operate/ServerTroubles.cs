using Garnet.Common;

namespace Garnet.Host.Operate;

/// <summary>What a running server's INFO says that somebody should do something about; for <c>status</c> and <c>doctor</c>.</summary>
internal static class ServerTroubles
{
    private const long FullPercent = 90;
    private const long TierFullPercent = 85; // a sixteenth is kept free, and compaction wins little where nine tenths are alive
    private const double CertificateDays = 21;

    /// <param name="info">What it said.</param>
    /// <param name="now">Now, for what ends on a day.</param>
    public static IEnumerable<Finding> Of(InfoReply info, DateTimeOffset now) =>
        new[]
        {
            Loading(info), Refusals(info), Log(info), Rewrite(info), Snapshot(info), Link(info), Divergence(info), Memory(info),
            Network(info), Certificate(info, now), Replicas(info), Tier(info), Backup(info), LogLines(info),
        }.OfType<Finding>();

    private static Finding? Loading(InfoReply info) => info.Number("loading") == 0 ? null
        : new(true, "the server loads its data", "most commands are answered with LOADING until it is done",
            "wait; its log tells how far it is");

    private static Finding? Refusals(InfoReply info) => info.Text("garnet_writes_refused") is "" or "no" ? null
        : new(true, $"writes are refused: {info.Text("garnet_writes_refused")}", "clients get an error for every change",
            "mend the cause; the server's log names it");

    private static Finding? Log(InfoReply info) => info.Text("aof_last_write_status") is "" or "ok" ? null
        : new(true, "the append-only file cannot be written", "changes are not durable", "make room on the disk, or look at its health");

    private static Finding? Rewrite(InfoReply info) => info.Text("aof_last_bgrewrite_status") is "" or "ok" ? null
        : new(true, "the last BGREWRITEAOF failed", "the log grows without an end", "make room on the disk, then BGREWRITEAOF");

    private static Finding? Snapshot(InfoReply info) => info.Text("rdb_last_bgsave_status") is "" or "ok" ? null
        : new(true, "the last snapshot failed", "a restart without a log would miss what changed since the one before",
            "make room on the disk, then BGSAVE");

    // A replica that gets its first copy says that it loads, which is found by itself.
    private static Finding? Link(InfoReply info)
    {
        if (info.Text("role") != "slave" || info.Text("master_link_status") == "up" || info.Number("master_sync_in_progress") == 1)
            return null;
        string why = info.Text("garnet_repl_link_problem") is { Length: > 0 } problem ? problem
            : "it does not get what its primary changes";
        return new(true, $"no link to the primary {info.Text("master_host")}:{info.Text("master_port")}", why,
            "see that the primary runs and can be reached, and that masterauth is its password");
    }

    private static Finding? Divergence(InfoReply info) => info.Number("garnet_repl_divergences") == 0 ? null
        : new(false, $"this server's data differed from its primary's ({info.Text("garnet_repl_divergences")} times)",
            "it was noticed and copied anew; it must not happen", "keep both logs, and report it");

    // Over a tier memory is full by intention: what counts is whether the tier has room.
    private static Finding? Memory(InfoReply info)
    {
        if (info.Text("maxmemory_policy") != "noeviction")
            return null;
        long size = info.Number("tier_size_bytes"), live = info.Number("tier_live_bytes");
        if (size > 0)
        {
            return live / (size / 100.0) < TierFullPercent ? null
                : new(true, $"the tier is nearly full: values have {SettingText.PrintMemory(live)} of {SettingText.PrintMemory(size)}",
                    "maxmemory-policy is noeviction: writes are refused when memory and tier are full",
                    "raise tier-size, or choose a policy that evicts");
        }
        long used = info.Number("used_memory"), limit = info.Number("maxmemory");
        if (limit == 0 || used / (limit / 100.0) < FullPercent)
            return null;
        return new(true, $"memory is nearly full: {SettingText.PrintMemory(used)} of {SettingText.PrintMemory(limit)}",
            "maxmemory-policy is noeviction: writes are refused when it is full",
            "raise maxmemory, choose a policy that evicts, or give it a tier (tier-path)");
    }

    private static Finding? Network(InfoReply info) => info.Number("garnet_open_to_network") == 0 ? null
        : new(true, "anybody who reaches the port can read and delete everything", "it listens to the network and asks for no password",
            "CONFIG SET requirepass …, or bind 127.0.0.1");

    private static Finding? Certificate(InfoReply info, DateTimeOffset now)
    {
        long ends = info.Number("garnet_tls_certificate_expires");
        if (ends <= 0)
            return null;
        double days = (ends - now.ToUnixTimeSeconds()) / 86_400.0;
        if (days > CertificateDays)
            return null;
        string what = days < 0 ? "the certificate has expired"
            : $"the certificate expires in {(int)days} days";
        return new(days < 0, what, "clients that check it no longer connect then",
            "put a new one in its place: the next connection gets it");
    }

    private static Finding? Replicas(InfoReply info)
    {
        if (info.Text("role") != "master" || info.Number("connected_slaves") == 0 || info.Text("min_slaves_good_slaves").Length > 0)
            return null;
        return new(false, "min-replicas-to-write is 0",
            "a primary that is cut off from its replicas goes on accepting writes, which a failover loses",
            "CONFIG SET min-replicas-to-write 1");
    }

    private static Finding? Tier(InfoReply info)
    {
        if (info.Text("tier_last_failure") is not { Length: > 0 } failure)
            return null;
        return new(true, "the tier had a failure", failure,
            "if its file was removed: SHUTDOWN, which saves all of it, and start again; else look at the disk's health; "
                + "with the server stopped, garnet-server check DIR names what is damaged; TIER.RESET forgets this");
    }

    private static Finding? Backup(InfoReply info) => info.Text("garnet_backup_last_error") is not { Length: > 0 } error ? null
        : new(true, "the last backup had a failure", error, "mend the cause, then BACKUP NOW; BACKUP STATUS tells how it went");

    private static Finding? LogLines(InfoReply info) => info.Number("garnet_log_lines_lost") == 0 ? null
        : new(false, $"{info.Text("garnet_log_lines_lost")} lines of the server's log could not be written", "what they said is gone",
            "make room where the log goes");
}
