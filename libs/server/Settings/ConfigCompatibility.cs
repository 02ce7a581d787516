using Garnet.Common;

namespace Garnet.Server;

/// <summary>
/// The parameters of redis 7.0 to 8.0 that have no property in a room of <see cref="ServerSettings"/>, so that a
/// redis.conf can be carried over and every line of it gets an answer. A <c>noted</c> one is read, checked, kept, shown by
/// CONFIG GET and has no effect; a <c>refused</c> one is accepted with its default only, because ignoring it would lose
/// data, open a door or promise what is not there. A <c>rejected</c> one is no value at all and is never accepted.
/// </summary>
public static class ConfigCompatibility
{
    // name and aliases | default | treatment | reason. Sorted by subject. A memory size has its default in bytes and "bytes" in the treatment.
    private const string Table = """
        hz|10|noted|Background work runs when there is some, not at a fixed rate.
        dynamic-hz|yes|noted|Background work runs when there is some, not at a fixed rate.
        active-expire-effort|1|noted|Expired keys are found by the segments that they lie in, not by sampling.
        activerehashing|yes|noted|The index grows piece by piece on its own.
        maxmemory-eviction-tenacity|10|noted|Eviction runs in the background and needs no time slice.
        lazyfree-lazy-eviction|no|noted|Evicted memory is always freed in the background.
        lazyfree-lazy-expire|no|noted|Expired memory is always freed in the background.
        lazyfree-lazy-server-del|no|noted|Overwritten memory is always freed in the background.
        lazyexpire-nested-arbitrary-keys|yes|noted|Expired keys are hidden from every access.
        activedefrag|no|noted|Segments are cleaned as they age; there is no allocator to defragment.
        active-defrag-ignore-bytes|104857600|noted bytes|Segments are cleaned as they age; there is no allocator to defragment.
        active-defrag-threshold-lower|10|noted|Segments are cleaned as they age; there is no allocator to defragment.
        active-defrag-threshold-upper|100|noted|Segments are cleaned as they age; there is no allocator to defragment.
        active-defrag-cycle-min|1|noted|Segments are cleaned as they age; there is no allocator to defragment.
        active-defrag-cycle-max|25|noted|Segments are cleaned as they age; there is no allocator to defragment.
        active-defrag-max-scan-fields|1000|noted|Segments are cleaned as they age; there is no allocator to defragment.
        jemalloc-bg-thread|yes|noted|Records live in memory of the store's own, not in jemalloc.
        disable-thp|yes|noted|Huge pages help the store; they are asked for where they fit.
        io-threads|1|noted|Set reactor-threads instead; by default every core serves connections.
        io-threads-do-reads|no|noted|Every reactor thread reads and writes.
        server_cpulist server-cpulist||noted|Pin the process with taskset or its service unit.
        bio_cpulist bio-cpulist||noted|Pin the process with taskset or its service unit.
        aof_rewrite_cpulist aof-rewrite-cpulist||noted|Pin the process with taskset or its service unit.
        bgsave_cpulist bgsave-cpulist||noted|Pin the process with taskset or its service unit.
        max-new-connections-per-cycle|10|noted|A round accepts as many connections as there are.
        max-new-tls-connections-per-cycle|1|noted|Handshakes have a thread of their own and hold up nobody who is served.
        socket-mark-id|0|noted|Outgoing connections are not marked.
        bind-source-addr||noted|The system chooses the address from which a replica connects to its primary, and MIGRATE to its target.
        daemonize|no|noted|The server stays in the foreground; let systemd, a container or & keep it.
        supervised|no|noted text|The server needs no protocol with its supervisor.
        pidfile|/var/run/redis.pid|noted|No file is written; the process id is in INFO and in the log.
        always-show-logo|no|noted|There is no logo.
        set-proc-title|yes|noted|The process title is left alone.
        proc-title-template|{title} {listen-addr} {server-mode}|noted|The process title is left alone.
        locale-collate||noted|Text is compared as bytes.
        syslog-enabled|no|noted|Log lines go to standard output or logfile.
        syslog-ident|redis|noted|Log lines go to standard output or logfile.
        syslog-facility|local0|noted|Log lines go to standard output or logfile.
        crash-log-enabled|yes|noted|A crash is reported by the runtime.
        crash-memcheck-enabled|yes|noted|A crash is reported by the runtime.
        oom-score-adj|no|noted text|Set OOMScoreAdjust in the service unit.
        oom-score-adj-values|0 200 800|noted|Set OOMScoreAdjust in the service unit.
        ignore-warnings||noted|Warnings do not stop the start.
        shutdown-on-sigint|default|noted|A signal stops the server after the commands that run.
        shutdown-on-sigterm|default|noted|A signal stops the server after the commands that run.
        hide-user-data-from-log|yes|noted|Keys and values never enter the log.
        propagation-error-behavior|ignore|noted|A batch that cannot be applied makes the replica synchronize in full.
        extended-redis-compatibility|no|noted|Replies follow redis in any case.
        stop-writes-on-bgsave-error|yes|noted|A failed snapshot does not stop writes; the log and rdb_last_bgsave_status in INFO tell of it.
        rdbcompression|yes|noted|Snapshots are not compressed.
        rdbchecksum|yes|noted|Snapshots always carry checksums.
        rdb-del-sync-files|no|noted|Without persistence a full synchronization writes no file.
        rdb-save-incremental-fsync|yes|noted|Snapshots are synced before they are published.
        sanitize-dump-payload|no|noted text|Payloads of RESTORE are always checked.
        aof-load-truncated|yes|noted|A torn end of the append-only file is always cut; aof-on-corruption says what to do about damage.
        aof-use-rdb-preamble|yes|noted|A snapshot always stands before the append-only file.
        aof-timestamp-enabled|no|noted|Every batch carries the time it was closed.
        aof-disable-auto-gc|no|noted|Files that are not needed are always deleted.
        aof-rewrite-incremental-fsync|yes|noted|Snapshots are synced before they are published.
        no-appendfsync-on-rewrite|no|noted|The append-only file is synced during snapshots as well.
        replica-ignore-maxmemory slave-ignore-maxmemory|yes|noted|A replica keeps what its primary has.
        replica-ignore-disk-write-errors|no|noted|A replica whose disk fails goes on in memory and says so.
        replica-lazy-flush slave-lazy-flush|no|noted|A replica keeps what it had, in its log or in memory, until the copy is whole.
        replica-full-sync-buffer-limit|0|noted bytes|client-output-buffer-limit for replicas bounds what a full copy makes it keep.
        repl-diskless-sync|yes|noted|A snapshot is always streamed, never written to a file of the primary first.
        repl-diskless-sync-delay|5|noted|A full synchronization begins at once.
        repl-diskless-sync-max-replicas|0|noted|A full synchronization begins at once.
        repl-diskless-load|disabled|noted|A snapshot is loaded as it comes, and meanwhile written to the data directory, if there is one.
        repl-rdb-channel|no|noted|One connection carries everything.
        repl-ping-replica-period repl-ping-slave-period|10|noted|An idle link carries a ping a second.
        repl-disable-tcp-nodelay|no|noted|Links do not delay what they send.
        repl-backlog-ttl|3600|noted|The backlog is kept.
        cluster-enabled|no|refused|there is no cluster mode yet; use one server, or several with client-side sharding
        cluster-config-file|nodes.conf|noted|There is no cluster mode yet.
        cluster-port|0|noted|There is no cluster mode yet.
        cluster-node-timeout|15000|noted|There is no cluster mode yet.
        cluster-migration-barrier|1|noted|There is no cluster mode yet.
        cluster-allow-replica-migration|yes|noted|There is no cluster mode yet.
        cluster-require-full-coverage|yes|noted|There is no cluster mode yet.
        cluster-replica-validity-factor cluster-slave-validity-factor|10|noted|There is no cluster mode yet.
        cluster-replica-no-failover cluster-slave-no-failover|no|noted|There is no cluster mode yet.
        cluster-allow-reads-when-down|no|noted|There is no cluster mode yet.
        cluster-allow-pubsubshard-when-down|yes|noted|There is no cluster mode yet.
        cluster-link-sendbuf-limit|0|noted bytes|There is no cluster mode yet.
        cluster-announce-ip||noted|There is no cluster mode yet.
        cluster-announce-hostname||noted|There is no cluster mode yet.
        cluster-announce-human-nodename||noted|There is no cluster mode yet.
        cluster-announce-port|0|noted|There is no cluster mode yet.
        cluster-announce-tls-port|0|noted|There is no cluster mode yet.
        cluster-announce-bus-port|0|noted|There is no cluster mode yet.
        cluster-preferred-endpoint-type|ip|noted|There is no cluster mode yet.
        cluster-slot-stats-enabled|no|noted|There is no cluster mode yet.
        cluster-compatibility-sample-ratio|0|noted|There is no cluster mode yet.
        tls-dh-params-file||noted|OpenSSL chooses the parameters by the strength of the certificate.
        rename-command||rejected|commands cannot be renamed or switched off; say with ACL who may run them
        loadmodule||rejected|modules of redis cannot be loaded
        loadmodule-ex||rejected|modules of redis cannot be loaded
        sentinel||rejected|the server is no Sentinel; run redis-sentinel for that
        """;

    /// <summary>Puts the parameters that hold a value into <paramref name="table"/>.</summary>
    internal static void Register(SettingTable table)
    {
        foreach (string line in Table.Split('\n'))
        {
            string[] cells = line.Split('|');
            if (cells[2].StartsWith("rejected", StringComparison.Ordinal))
                continue;
            (string names, string value, string treatment, string reason) = (cells[0], cells[1], cells[2], cells[3]);
            int end = names.IndexOf(' ', StringComparison.Ordinal);
            bool refused = treatment.StartsWith("refused", StringComparison.Ordinal);
            var declared = new SettingAttribute(end < 0 ? names : names[..end], refused ? "Not supported." : "Kept for compatibility.")
            {
                Aliases = end < 0 ? "" : names[(end + 1)..],
                Unit = UnitOf(treatment),
                Live = !refused,
                Secret = treatment.EndsWith("secret", StringComparison.Ordinal),
                Note = refused ? "" : reason,
                Only = refused ? value : null,
                Why = refused ? reason : "",
            };
            AddKept(table, declared, value, treatment);
        }
    }

    /// <summary>Why a directive that is no setting is not accepted; null if the name is not known at all.</summary>
    public static string? WhyRejected(string name)
    {
        foreach (string line in Table.Split('\n'))
        {
            string[] cells = line.Split('|');
            if (cells[2] == "rejected" && cells[0].Equals(name, StringComparison.OrdinalIgnoreCase))
                return cells[3];
        }
        return null;
    }

    private static SettingUnit UnitOf(string treatment)
        => treatment.EndsWith("bytes", StringComparison.Ordinal) ? SettingUnit.Bytes : SettingUnit.Count;

    /// <summary>The default tells the kind: yes or no, a number, or anything else; "text" in the treatment overrules it.</summary>
    private static void AddKept(SettingTable table, SettingAttribute declared, string value, string treatment)
    {
        if (treatment.EndsWith("text", StringComparison.Ordinal))
            table.AddKept(declared, SettingKind.Text, value);
        else if (SettingText.TryYesNo(value, out bool yes))
            table.AddKept(declared, SettingKind.YesNo, yes);
        else if (SettingText.TryInteger(value, out long number))
            table.AddKept(declared, SettingKind.Number, number);
        else table.AddKept(declared, SettingKind.Words, SettingText.Words(value));
    }
}
