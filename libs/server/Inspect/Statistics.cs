using Garnet.Common.Time;
using Garnet.Server.Clients;
using Garnet.Server.Replication;
using Tsavorite;

namespace Garnet.Server.Inspect;

/// <summary>Sums over the reactors since the last CONFIG RESETSTAT. Counters are never set back: a reset remembers where they stood.</summary>
internal sealed class Statistics(
    Store store, IClock clock, WorkerSet workers, int commands, Func<(long Received, long Rejected)> connections, LinkTraffic links)
{
    private const long SampleUs = 1_000_000;

    private readonly Lock _gate = new();
    private Totals _base = new();
    private long[] _bucketsBase = [];
    private StoreFigures _storeBase;
    private long _sampledUs;
    private Totals? _sampled;
    private Rate _rate;
    private long _peakBytes;

    /// <summary>Commands and kilobytes per second; those of links to other servers are among the kilobytes, and by themselves.</summary>
    internal readonly record struct Rate(long Ops, double InKb, double OutKb, double LinksInKb, double LinksOutKb);

    /// <summary>Sums of one moment. Bytes are those of clients and of links to other servers.</summary>
    internal sealed class Totals
    {
        internal long Commands, Hits, TierHits, Misses, BytesIn, BytesOut, LinksIn, LinksOut, BusyUs, Connections, Rejected;
        internal long Errors, ProtocolErrors, OutputLimitCloses;
        // By command.
        internal long[] Calls = [], Failed = [], RejectedCalls = [], TimedUs = [], TimedCalls = [];
        internal Dictionary<string, long> ErrorsByCode = [];
    }

    /// <summary>Sums since the reset, without those by command.</summary>
    internal Totals Now()
    {
        lock (_gate)
            return Minus(Sum(commands: 0), _base);
    }

    /// <summary>Sums since the reset, those by command among them.</summary>
    internal Totals NowByCommand()
    {
        lock (_gate)
            return Minus(Sum(commands), _base);
    }

    /// <summary>
    /// Timed runs since the reset, indexed as <see cref="ReactorFigures.TimedByBucket"/>. Apart from the rest: they are a hundred
    /// kilobytes, a large object of the collector's, and INFO, which somebody asks for every second, shows none of them.
    /// </summary>
    internal long[] TimedByBucket()
    {
        long[] buckets = [];
        TimedByBucket(ref buckets);
        return buckets;
    }

    /// <summary>The same for who asks again and again: into what he has kept from the last time, if that is long enough.</summary>
    internal void TimedByBucket(ref long[] buckets)
    {
        lock (_gate)
        {
            SumBuckets(ref buckets);
            for (int i = 0; i < _bucketsBase.Length; i++)
                buckets[i] -= _bucketsBase[i];
        }
    }

    /// <summary>Keys expired and evicted since the reset.</summary>
    internal (long Expired, long Evicted) StoreEvents(in StoreFigures now)
    {
        lock (_gate)
            return (now.ExpiredKeys - _storeBase.ExpiredKeys, now.EvictedKeys - _storeBase.EvictedKeys);
    }

    /// <summary>What was done per second since the sample before, taken anew at most once a second.</summary>
    internal Rate Rates()
    {
        lock (_gate)
        {
            long now = clock.MonotonicUs;
            if (_sampled is null || now - _sampledUs >= SampleUs)
            {
                Totals sum = Sum(commands: 0);
                if (_sampled is { } before)
                    _rate = RateOf(before, sum, (now - _sampledUs) / 1e6);
                _sampled = sum;
                _sampledUs = now;
            }

            return _rate;
        }
    }

    private static Rate RateOf(Totals from, Totals to, double seconds)
    {
        double kilobytes = 1024 * seconds;
        return new Rate((long)((to.Commands - from.Commands) / seconds),
            (to.BytesIn - from.BytesIn) / kilobytes, (to.BytesOut - from.BytesOut) / kilobytes,
            (to.LinksIn - from.LinksIn) / kilobytes, (to.LinksOut - from.LinksOut) / kilobytes);
    }

    /// <summary>The most memory that was told so far, with these bytes.</summary>
    internal long RaisePeak(long bytes)
    {
        lock (_gate)
            return _peakBytes = Math.Max(_peakBytes, bytes);
    }

    /// <summary>Makes the sums begin at zero now.</summary>
    internal void Reset()
    {
        StoreFigures figures = store.Figures(); // outside: who runs INFO in a transaction holds locks of the store
        lock (_gate)
        {
            _base = Sum(commands);
            _bucketsBase = [];
            SumBuckets(ref _bucketsBase);
            _storeBase = figures;
        }
    }

    // Of so many commands one by one.
    private Totals Sum(int commands)
    {
        var sum = new Totals
        {
            Calls = new long[commands],
            Failed = new long[commands],
            RejectedCalls = new long[commands],
            TimedUs = new long[commands],
            TimedCalls = new long[commands],
        };
        foreach (Worker worker in workers.All)
            Add(sum, worker);
        (sum.Connections, sum.Rejected) = connections();
        (sum.LinksIn, sum.LinksOut) = (links.Received, links.Sent);
        sum.BytesIn += sum.LinksIn;
        sum.BytesOut += sum.LinksOut;
        return sum;
    }

    private void SumBuckets(ref long[] sum)
    {
        if (sum.Length < commands * ReactorFigures.TimeBuckets)
            sum = new long[commands * ReactorFigures.TimeBuckets];
        Array.Clear(sum);
        foreach (Worker worker in workers.All)
        {
            long[] buckets = worker.Figures.TimedByBucket;
            for (int i = 0; i < sum.Length; i++)
                sum[i] += buckets[i];
        }
    }

    private static void Add(Totals sum, Worker worker)
    {
        ReactorFigures figures = worker.Figures;
        sum.Hits += worker.Session.Hits;
        sum.TierHits += worker.Session.Tier?.Hits ?? 0;
        sum.Misses += worker.Session.Misses;
        sum.BytesIn += figures.BytesIn;
        sum.BytesOut += figures.BytesOut;
        sum.Errors += figures.Errors;
        sum.ProtocolErrors += figures.ProtocolErrors;
        sum.OutputLimitCloses += figures.OutputLimitCloses;
        sum.BusyUs += figures.BusyUs;
        foreach (long calls in figures.Calls)
            sum.Commands += calls;
        for (int i = 0; i < sum.Calls.Length; i++)
        {
            sum.Calls[i] += figures.Calls[i];
            sum.Failed[i] += figures.Failed[i];
            sum.RejectedCalls[i] += figures.Rejected[i];
            sum.TimedUs[i] += figures.TimedUs[i];
            sum.TimedCalls[i] += figures.TimedCalls[i];
        }

        lock (figures.ErrorsByCode)
        {
            foreach ((string code, long count) in figures.ErrorsByCode)
                sum.ErrorsByCode[code] = sum.ErrorsByCode.GetValueOrDefault(code) + count;
        }
    }

    private static Totals Minus(Totals sum, Totals start)
    {
        if (start.Calls.Length == 0)
            return sum;
        sum.Commands -= start.Commands;
        sum.Hits -= start.Hits;
        sum.TierHits -= start.TierHits;
        sum.Misses -= start.Misses;
        sum.BytesIn -= start.BytesIn;
        sum.BytesOut -= start.BytesOut;
        sum.LinksIn -= start.LinksIn;
        sum.LinksOut -= start.LinksOut;
        sum.Errors -= start.Errors;
        sum.ProtocolErrors -= start.ProtocolErrors;
        sum.OutputLimitCloses -= start.OutputLimitCloses;
        sum.BusyUs -= start.BusyUs;
        sum.Connections -= start.Connections;
        sum.Rejected -= start.Rejected;
        for (int i = 0; i < sum.Calls.Length; i++)
        {
            sum.Calls[i] -= start.Calls[i];
            sum.Failed[i] -= start.Failed[i];
            sum.RejectedCalls[i] -= start.RejectedCalls[i];
            sum.TimedUs[i] -= start.TimedUs[i];
            sum.TimedCalls[i] -= start.TimedCalls[i];
        }

        foreach ((string code, long count) in start.ErrorsByCode)
            sum.ErrorsByCode[code] = sum.ErrorsByCode.GetValueOrDefault(code) - count;
        return sum;
    }
}
