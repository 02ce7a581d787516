using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Tsavorite;

namespace Garnet.Server.Telemetry;

/// <summary>
/// What figures are read from, all of one moment: each part is summed up when it is first asked for, so that only those who show it pay for it.
/// Nothing here walks over data or waits for a reactor.
/// </summary>
internal sealed class Moment(ServerContext server)
{
    private long[] _buckets = [];
    private StoreFigures? _store;
    private double? _quickUs;
    private Environment.ProcessCpuUsage? _processor;
    private bool _hasBuckets;

    /// <summary>One with <see cref="Buckets"/> that somebody has at hand.</summary>
    internal Moment(ServerContext server, long[] buckets)
        : this(server) => (_buckets, _hasBuckets) = (buckets, true);

    internal ServerContext Server => server;

    /// <summary>Sums over the reactors, without those by command.</summary>
    internal Statistics.Totals Totals => field ??= server.Monitoring.Statistics.Now();

    /// <summary>Sums over the reactors with those by command.</summary>
    internal Statistics.Totals ByCommand => field ??= server.Monitoring.Statistics.NowByCommand();

    /// <summary>Timed runs, as <see cref="ReactorFigures.TimedByBucket"/> has them.</summary>
    internal long[] Buckets
    {
        get
        {
            if (_hasBuckets)
                return _buckets;
            server.Monitoring.Statistics.TimedByBucket(ref _buckets);
            _hasBuckets = true;
            return _buckets;
        }
    }

    internal StoreFigures Store => _store ??= server.Store.Figures();

    /// <summary>Keys expired and evicted since the last CONFIG RESETSTAT.</summary>
    internal (long Expired, long Evicted) StoreEvents => server.Monitoring.Statistics.StoreEvents(Store);

    internal List<Connection> Clients => field ??= server.Clients();

    internal long ClientBytes => field > 0 ? field : field = Clients.Sum(static client => client.MemoryBytes);

    internal long UsedBytes => Store.UsedBytes + BesidesBytes;

    /// <summary>Never below what was said to be used, here or in an earlier moment: clients that were there then may be gone.</summary>
    internal long PeakBytes => server.Monitoring.Statistics.RaisePeak(Math.Max(Store.PeakBytes, Store.UsedBytes) + BesidesBytes);

    internal long ResidentBytes => field > 0 ? field : field = MemoryPlan.ResidentBytes();

    /// <summary>Processor time of the process.</summary>
    internal Environment.ProcessCpuUsage Processor =>
        _processor ??= OperatingSystem.IsIOS() || OperatingSystem.IsTvOS() ? default : Environment.CpuUsage;

    internal long UptimeSeconds => Math.Max(server.Clock.UnixMs - server.Core.StartedUnixMs, 0) / 1000;

    /// <summary>
    /// How old what a replica shows is, milliseconds; 0 on a primary, and while it shows all it was sent by a primary that is heard. One that hangs has perhaps more to say: its silence
    /// counts, once it is longer than it ever is between two of its pings.
    /// </summary>
    internal long LagMs
    {
        get
        {
            if (server.Replication.Role.Follower is not { } follower)
                return 0;
            long silentUs = server.Replication.Role.Following is { IsUp: true } following ? following.SilentUs : long.MaxValue;
            if (follower.WaitingBytes > 0 || silentUs == long.MaxValue)
                return MsSince(server.Replication.Applied.SealedUnixUs);
            return silentUs > 2 * ReplicaLink.PingUs ? silentUs / 1000 : 0;
        }
    }

    /// <summary>Databases that hold something.</summary>
    internal IReadOnlyList<DatabaseFigures> Databases => field ??= [.. Filled()];

    internal IReadOnlyList<ReplicaFigures> Replicas => field ??= ReplicaFigures.All(this);

    /// <summary>A command's name, as INFO has it.</summary>
    internal string NameOf(int command) => server.Commands.Specs[command].Name.ToLowerInvariant();

    /// <summary>Timed runs of a command by powers of two of microseconds.</summary>
    internal ReadOnlySpan<long> BucketsOf(int command) => Buckets.AsSpan(command * ReactorFigures.TimeBuckets, ReactorFigures.TimeBuckets);

    internal long MsSince(long unixUs) => unixUs == 0 ? 0 : Math.Max(0, (server.Clock.UnixUs - unixUs) / 1000);

    /// <summary>Microseconds that the runs of a command took: those that are not timed by themselves share the rest of the busy time evenly.</summary>
    internal double MicrosecondsOf(int command) =>
        ByCommand.TimedUs[command] + ((ByCommand.Calls[command] - ByCommand.TimedCalls[command]) * (_quickUs ??= QuickUs()));

    // What is used and the store does not count.
    private long BesidesBytes => ClientBytes + server.Observers.Tracker.MemoryBytes;

    private IEnumerable<DatabaseFigures> Filled()
    {
        for (int i = 0; i < server.Settings.Memory.Databases; i++)
        {
            uint ns = server.Store.Namespaces.Id(i);
            long keys = server.Store.Count(ns);
            if (keys > 0)
                yield return new DatabaseFigures(i, keys, server.Store.CountWithExpiry(ns));
        }
    }

    private double QuickUs()
    {
        long timedUs = ByCommand.TimedUs.Sum(), timedCalls = ByCommand.TimedCalls.Sum();
        long quickCalls = ByCommand.Commands - timedCalls;
        return quickCalls <= 0 ? 0 : Math.Max(ByCommand.BusyUs - timedUs, 0) / (double)quickCalls;
    }
}
