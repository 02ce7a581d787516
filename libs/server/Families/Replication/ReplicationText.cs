using System.Globalization;
using Garnet.Replication;
using Garnet.Server.Commands;
using Garnet.Server.Replication;
using Garnet.Server.Telemetry;

namespace Garnet.Server.Families.Replication;

/// <summary>The section Replication of INFO: Redis's fields in Redis's order (Sentinels read it by line, and <c>role</c> must come first), then our own.</summary>
internal sealed class ReplicationText(Moment moment)
{
    private readonly ReplicationNode _replication = moment.Server.Replication;

    internal void Write(Action<string> section, Action<string, string> text, Action<string, long> number)
    {
        section("Replication");
        text("role", _replication.IsReplica ? "slave" : "master");
        if (_replication.IsReplica)
            Replica(text, number);
        Replicas(text, number);
        if (_replication.IsReplica)
            text("garnet_repl_link_problem", _replication.Role.Following?.Problem ?? "");
        Write(number, KeepingFigures.Term);
        number("garnet_repl_last_batch", (long)_replication.Position.LastBatch);
        number("garnet_repl_received_batch", _replication.IsReplica ? (long)(_replication.Role.Follower?.Ack().Received ?? 0) : 0);
        number("garnet_repl_sealed_batch", (long)_replication.Backlog.End.Batch);
        number("garnet_repl_shipped_batch", Least(static link => link.Shipped));
        number("garnet_repl_acknowledged_batch", Least(static link => link.Ack.Received));
        number("garnet_repl_durable_batch", (long)(_replication.Log.OnDisk?.Durable ?? 0));
        Write(number, KeepingFigures.AppliedBatch, KeepingFigures.Lag, KeepingFigures.WaitingBytes);
        Write(number, KeepingFigures.WaitingReads, KeepingFigures.ReadWaits, KeepingFigures.ReadRetries);
        number("garnet_repl_gate_us", _replication.Access.Reads.HeldUpUs);
        Write(number, KeepingFigures.Divergences, KeepingFigures.Comparisons, KeepingFigures.Discards, KeepingFigures.DiscardedWrites);
        int index = 0;
        foreach (ReplicaThreads replica in _replication.Links.All)
        {
            ReplicaLink link = replica.Link;
            (long lagBytes, long sealedUs) = _replication.Backlog.Behind(link.Ack.Applied);
            text($"garnet_slave{index++}", string.Create(CultureInfo.InvariantCulture,
                $"shipped={link.Shipped},received={link.Ack.Received},durable={link.Ack.Durable},applied={link.Ack.Applied}," +
                $"lag_batches={Lag(link)},lag_bytes={lagBytes},lag_ms={moment.MsSince(sealedUs)},silent_ms={link.SilentUs / 1000}," +
                $"full={(link.WasFull ? 1 : 0)}"));
        }
    }

    // What each of the replicas has; 0 without one.
    private long Least(Func<ReplicaLink, ulong> batch) =>
        _replication.Links.All is { Count: > 0 } all ? (long)all.Min(one => batch(one.Link)) : 0;

    private long Lag(ReplicaLink link)
    {
        ulong end = _replication.Backlog.End.Batch;
        return (long)(end - Math.Min(link.Ack.Applied, end));
    }

    private void Replica(Action<string, string> text, Action<string, long> number)
    {
        Following? following = _replication.Role.Following;
        Peer primary = _replication.Role.Primary;
        ReplicationSettings settings = moment.Server.Settings.Replication;
        bool isUp = following is { IsUp: true }, isSyncing = following is { IsSyncing: true };
        text("master_host", primary.Host);
        number("master_port", primary.Port);
        text("master_link_status", isUp ? "up" : "down");
        number("master_last_io_seconds_ago", isUp || isSyncing ? following!.SilentUs / 1_000_000 : -1);
        number("master_sync_in_progress", isSyncing ? 1 : 0);
        number("slave_read_repl_offset", _replication.Position.ReceivedOffset);
        number("slave_repl_offset", _replication.Position.ReceivedOffset);
        if (isSyncing)
        {
            number("master_sync_total_bytes", 0);
            number("master_sync_read_bytes", _replication.Role.Follower?.SnapshotBytes ?? 0);
            number("master_sync_left_bytes", 0);
            text("master_sync_perc", "0.00");
            number("master_sync_last_io_seconds_ago", following!.SilentUs / 1_000_000);
        }

        if (!isUp)
            number("master_link_down_since_seconds", following?.DownSeconds ?? -1);
        number("slave_priority", settings.Priority);
        number("slave_read_only", 1);
        number("replica_announced", settings.Announced ? 1 : 0);
    }

    private void Replicas(Action<string, string> text, Action<string, long> number)
    {
        IReadOnlyList<ReplicaThreads> replicas = _replication.Links.All;
        ReplicationSettings settings = moment.Server.Settings.Replication;
        Write(number, KeepingFigures.Replicas);
        if (settings.ReplicasToWrite > 0)
            number("min_slaves_good_slaves", _replication.Links.CountGood(settings.LagSecondsMax));
        for (int i = 0; i < replicas.Count; i++)
        {
            ReplicaLink link = replicas[i].Link;
            string state = ReplicaFigures.StateOf(link);
            text($"slave{i}", string.Create(CultureInfo.InvariantCulture,
                $"ip={link.Hello.Address},port={link.Hello.Port},state={state}," +
                $"offset={NodePosition.OffsetOf(link.Ack)},lag={link.SilentUs / 1_000_000}"));
        }

        bool keeps = _replication.Backlog.IsKept;
        text("master_failover_state", _replication.Handovers.State);
        text("master_replid", _replication.History.Id);
        text("master_replid2", _replication.History.IdBefore);
        Write(number, KeepingFigures.Offset);
        number("second_repl_offset", _replication.Position.OffsetBefore);
        Write(number, KeepingFigures.BacklogActive, KeepingFigures.BacklogMax);
        long first = keeps ? NodePosition.OffsetOf(_replication.Position.Term, _replication.Backlog.First) : 0;
        number("repl_backlog_first_byte_offset", first);
        Write(number, KeepingFigures.BacklogBytes);
    }

    private void Write(Action<string, long> number, params ReadOnlySpan<Figure> figures)
    {
        foreach (Figure figure in figures)
            number(figure.Field, figure.Read(moment));
    }
}
