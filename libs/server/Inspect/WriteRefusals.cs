using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Persistence;
using Garnet.Server.Replication;
using Tsavorite;

namespace Garnet.Server.Inspect;

/// <summary>Why writes are refused although nothing is wrong with them.</summary>
internal enum RefusalCause
{
    /// <summary>The append-only file cannot be written.</summary>
    Log,
    /// <summary>maxmemory is used up and nothing may be evicted.</summary>
    Memory,
    /// <summary>min-replicas-to-write is not reached.</summary>
    Replicas,
}

/// <summary>
/// Tells the operator when writes begin to be refused, why and what to do, and when that is over: a line in the log each, and a field in INFO.
/// The beginning is told by whoever refuses first; from then on somebody looks once a second until it has been good for some seconds.
/// </summary>
internal sealed class WriteRefusals : IDisposable
{
    /// <summary>All causes, in order.</summary>
    internal static readonly RefusalCause[] Causes = [RefusalCause.Log, RefusalCause.Memory, RefusalCause.Replicas];

    private const int LookMs = 1000, GoodLooks = 3;

    // A server that is full refuses as fast as it writes: without a copy each.
    private static readonly byte[] Full = FaultText.Of(Fault.OutOfMemory).ToArray(), Lonely = FaultText.Of(Fault.TooFewReplicas).ToArray();

    private readonly Store _store;
    private readonly ServerSettings _settings;
    private readonly ServerLog _log;
    private readonly Func<long> _memoryLimitBytes;
    private readonly DataKeeper? _keeper;
    private readonly RoleAccess _access;
    private readonly Lock _gate = new();
    // By cause: looks that are left until it counts as over; 0 = nothing is refused for it.
    private readonly int[] _left = new int[Causes.Length];
    private Timer? _timer;
    private bool _isClosed; // a look that the timer has begun may come to it after its end, when the store is gone

    internal WriteRefusals(
        Store store, ServerSettings settings, ServerLog log, DataKeeper? keeper, RoleAccess access, Func<long> memoryLimitBytes)
    {
        (_store, _settings, _log, _keeper, _access, _memoryLimitBytes) = (store, settings, log, keeper, access, memoryLimitBytes);
        keeper?.Log.Troubled += () => Note(RefusalCause.Log);
    }

    /// <summary>Why writes are refused now, for INFO; "no" if they are not.</summary>
    internal string Shown
    {
        get
        {
            string[] causes = [.. All.Where(static one => one.Holds).Select(static one => one.Cause.ToString().ToLowerInvariant())];
            return causes.Length == 0 ? "no" : string.Join(',', causes);
        }
    }

    /// <summary>Every cause, and whether writes are refused for it now.</summary>
    internal IEnumerable<(RefusalCause Cause, bool Holds)> All => Causes.Select(cause => (cause, Volatile.Read(ref _left[(int)cause]) > 0));

    /// <summary>A write has been refused, or would be. From any thread; costs a read while that is known.</summary>
    internal void Note(RefusalCause cause)
    {
        if (Volatile.Read(ref _left[(int)cause]) != 0)
            return;
        lock (_gate)
        {
            if (_left[(int)cause] != 0 || _isClosed)
                return;
            Volatile.Write(ref _left[(int)cause], GoodLooks);
            _timer ??= new Timer(static self => ((WriteRefusals)self!).Look(), this, LookMs, LookMs);
        }

        _log.WritesRefused(TextOf(cause));
    }

    /// <summary>What a write that is refused for the cause is answered, by a client or in a script; the cause is noted.</summary>
    internal byte[] Noted(RefusalCause cause)
    {
        Note(cause);
        return cause switch
        {
            RefusalCause.Log => FaultText.LogTrouble(_keeper?.Trouble),
            RefusalCause.Memory => Full,
            _ => Lonely,
        };
    }

    /// <summary>Looks whether what was refused would be taken now.</summary>
    internal void Look()
    {
        lock (_gate)
        {
            if (_isClosed)
                return;
            foreach (RefusalCause cause in Causes)
            {
                ref int left = ref _left[(int)cause];
                if (left == 0)
                    continue;
                Volatile.Write(ref left, Lasts(cause) ? GoodLooks : left - 1);
                if (left == 0)
                    _log.WritesTaken(cause.ToString().ToLowerInvariant());
            }

            if (Array.TrueForAll(_left, static left => left == 0))
            {
                _timer?.Dispose();
                _timer = null;
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            _timer?.Dispose();
        }
    }

    private bool Lasts(RefusalCause cause) => cause switch
    {
        RefusalCause.Log => _keeper?.Trouble is not null,
        RefusalCause.Memory => _store.Tight && _store.Figures().UsedBytes >= _memoryLimitBytes(),
        _ => _access.LacksReplicas,
    };

    private static string WhyNothingGoes(EvictionPolicy policy) => policy switch
    {
        EvictionPolicy.NoEviction => "maxmemory-policy is noeviction. Raise maxmemory, choose a policy that evicts",
        _ when policy.IsVolatile() =>
            "no key with an expiry is left that maxmemory-policy could let go. Raise maxmemory, choose a policy that evicts any key",
        _ => "nothing is left that maxmemory-policy could let go: what remains is a few large values, functions, or the index (of a tier " +
            "each key takes 13 to 22 bytes of it). Raise maxmemory",
    };

    private string TextOf(RefusalCause cause) => cause switch
    {
        RefusalCause.Log when _keeper is { Log.Poison: { } lost } =>
            $"the append-only file is lost: {lost}. Look at the disk, then restart the server; what was not confirmed is not in it",
        RefusalCause.Log =>
            $"the append-only file cannot be written: {_keeper?.Trouble}. Make room on the disk, for a file of " +
            $"{SettingText.PrintMemory(_settings.Persistence.SegmentBytes)} at least (aof-segment-size): writes are taken again by " +
            "themselves",
        RefusalCause.Memory =>
            $"{_store.Figures().UsedBytes} bytes of memory are in use, maxmemory is {_memoryLimitBytes()}, and " +
            $"{WhyNothingGoes(_settings.Memory.Policy)}, or delete keys",
        _ => $"fewer than {_settings.Replication.ReplicasToWrite} replicas are connected and near (min-replicas-to-write, " +
            "min-replicas-max-lag). See INFO replication for which",
    };
}
