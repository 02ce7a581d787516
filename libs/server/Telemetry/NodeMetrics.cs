using System.Globalization;
using Garnet.Common;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Inspect;
using Garnet.Server.Replication;

namespace Garnet.Server.Telemetry;

/// <summary>Metrics of the server among others, by replica and by reactor.</summary>
internal static class NodeMetrics
{
    private const string OfReplica = "slave_ip slave_port slave_state", OfPrimary = "master_host master_port";

    internal static readonly IReadOnlyList<LabelledMetric> All =
    [
        LabelledMetric.Gauge("redis_up", "", "1: the server has answered.", static (_, text) => text.Sample(1)),
        LabelledMetric.Gauge("redis_instance_info", "role redis_version garnet_version redis_mode maxmemory_policy run_id",
            "1, with what the server is.", Instance),
        LabelledMetric.Gauge("redis_master_link_up", OfPrimary, "1 while the link of a replica to its primary is up.",
            static (moment, text) => ToPrimary(moment, text, static following => following is { IsUp: true })),
        LabelledMetric.Gauge("redis_master_sync_in_progress", OfPrimary, "1 while a replica gets all data.",
            static (moment, text) => ToPrimary(moment, text, static following => following is { IsSyncing: true })),
        LabelledMetric.Gauge("redis_connected_slave_lag_seconds", OfReplica, "For how long a replica has been silent.",
            static (moment, text) => ByReplica(moment, text, static one => one.SilentUs / 1e6)),
        LabelledMetric.Gauge("redis_connected_slave_offset_bytes", OfReplica,
            "Where the log of a replica stands, to compare with redis_master_repl_offset.",
            static (moment, text) => ByReplica(moment, text, static one => one.Offset)),
        LabelledMetric.Gauge("garnet_replica_lag_seconds", OfReplica, "How old what a replica shows is.",
            static (moment, text) => ByReplica(moment, text, static one => one.LagMs / 1e3)),
        LabelledMetric.Gauge("garnet_replica_lag_bytes", OfReplica, "Bytes of batches that a replica does not show yet.",
            static (moment, text) => ByReplica(moment, text, static one => one.LagBytes)),
        LabelledMetric.Gauge("garnet_writes_refused", "cause", "1 while writes are refused for the cause.", Refusals),
        LabelledMetric.Counter("garnet_reactor_busy_seconds_total", "reactor", "Time that a reactor spent running commands.",
            static (moment, text) => ByReactor(moment, text, static worker => worker.Figures.BusyUs / 1e6)),
        LabelledMetric.Gauge("garnet_reactor_clients", "reactor", "Clients of a reactor.",
            static (moment, text) => ByReactor(moment, text, static worker => Volatile.Read(ref worker.ConnectionCount))),
    ];

    private static void Instance(Moment moment, MetricText text)
    {
        string policy = moment.Server.Core.Table.TryFind("maxmemory-policy", out Setting? setting) ? setting.Text : "";
        string role = moment.Server.Replication.IsReplica ? "slave" : "master", version = moment.Server.Settings.Inspect.RedisVersion;
        text.Sample(1, role, version, ServerTelemetry.Version, "standalone", policy, moment.Server.Replication.RunId);
    }

    private static void ToPrimary(Moment moment, MetricText text, Predicate<Following?> holds)
    {
        if (!moment.Server.Replication.IsReplica || moment.Server.Replication.Role.Primary is not { } primary)
            return;
        bool isSo = holds(moment.Server.Replication.Role.Following);
        text.Sample(isSo ? 1 : 0, primary.Host, primary.Port.ToString(CultureInfo.InvariantCulture));
    }

    private static void ByReplica(Moment moment, MetricText text, Func<ReplicaFigures, double> read)
    {
        foreach (ReplicaFigures replica in moment.Replicas)
            text.Sample(read(replica), replica.Address, replica.Port.ToString(CultureInfo.InvariantCulture), replica.State);
    }

    private static void Refusals(Moment moment, MetricText text)
    {
        foreach ((RefusalCause cause, bool holds) in moment.Server.Refusals.All)
            text.Sample(holds ? 1 : 0, cause.ToString().ToLowerInvariant());
    }

    private static void ByReactor(Moment moment, MetricText text, Func<Worker, double> read)
    {
        foreach (Worker worker in moment.Server.Workers.All)
            text.Sample(read(worker), worker.Index.ToString(CultureInfo.InvariantCulture));
    }
}
