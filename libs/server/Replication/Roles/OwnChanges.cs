using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// What changes in the store without a primary having said so: what clients write here, and what this server removes by itself, expired or
/// evicted. A replica has neither.
/// </summary>
internal sealed class OwnChanges(Store store, MemorySettings settings, WorkerSet workers, Func<long> memoryLimitBytes)
{
    // What is decided here, and what the store is told of it, are one step: a setting that comes in between would be in force on a replica.
    private readonly Lock _gate = new();
    private volatile bool _decides;

    /// <summary>True where it is decided what expires and what is evicted: on a primary, once its data are loaded.</summary>
    internal bool Decides => _decides;

    /// <summary>Raised when this server begins to decide what expires.</summary>
    internal event Action? Resumed;

    /// <summary>What is too much is evicted from now on. Only now that the log is there: what is evicted is in it.</summary>
    internal void Begin()
    {
        _decides = true;
        TakeMemorySettings();
    }

    /// <summary>What is due expires again.</summary>
    internal void Resume()
    {
        store.PauseExpiry(false);
        Resumed?.Invoke();
    }

    /// <summary>
    /// Ends all of it, and waits until it has ended, unless that is given up. First what is removed by itself, then what clients do: reactors
    /// remove what is due too, between commands.
    /// </summary>
    internal void End(Func<bool> stops)
    {
        lock (_gate)
        {
            _decides = false;
            store.SetPolicy(EvictionPolicy.NoEviction);
            store.SetMemoryLimit(0); // what the primary has is kept, whatever maxmemory says
        }

        store.PauseExpiry(true); // waits for the mover's step under way, which may be one that evicts
        RoleRounds.Await(workers, stops);
    }

    /// <summary>What the settings say of memory is in force from now on, if this server decides what is kept.</summary>
    internal void TakeMemorySettings()
    {
        lock (_gate)
        {
            if (!_decides)
                return;
            store.SetPolicy(settings.Policy);
            store.SetMemoryLimit(memoryLimitBytes());
        }
    }
}
