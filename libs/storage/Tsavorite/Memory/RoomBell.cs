namespace Tsavorite;

/// <summary>
/// Tells those who found no room that there may be some: told by whatever gives memory back, asked by whoever waits (<see cref="RoomWait.Ask"/>). Who finds room
/// never comes here. It rings once for each time that somebody has asked; who finds none again asks again, so that it rings no oftener than memory is given back.
/// </summary>
internal sealed class RoomBell
{
    private const long Nobody = long.MaxValue;
    private readonly Lock _gate = new();
    private RoomWait[] _waits = [];
    private long _wanted = Nobody; // the least of what those lack who wait

    /// <summary>From now on its owner may wait.</summary>
    public void Add(RoomWait wait)
    {
        lock (_gate) _waits = [.. _waits, wait];
    }

    /// <summary>Its owner waits no more.</summary>
    public void Remove(RoomWait wait)
    {
        lock (_gate) _waits = [.. _waits.Where(other => other != wait)];
    }

    /// <summary>True while somebody waits who was not called.</summary>
    public bool HasWaiters
    {
        get
        {
            foreach (RoomWait wait in Volatile.Read(ref _waits))
            {
                if (wait.IsUnderWay)
                    return true;
            }
            return false;
        }
    }

    /// <summary>It rings once so many bytes are free.</summary>
    public void Ask(long bytes)
    {
        long wanted = Volatile.Read(ref _wanted);
        while (bytes < wanted && Interlocked.CompareExchange(ref _wanted, bytes, wanted) is var found && found != wanted) wanted = found;
    }

    /// <summary>So many bytes are free now. Called with locks held: what is called here does not wait.</summary>
    public void Free(long bytes)
    {
        if (bytes >= Volatile.Read(ref _wanted))
            Ring();
    }

    /// <summary>What may be had has changed, if not by memory: whoever waits looks again.</summary>
    public void Ring()
    {
        if (Volatile.Read(ref _wanted) == Nobody || Interlocked.Exchange(ref _wanted, Nobody) == Nobody)
            return;
        lock (_gate) // so that nobody is called who has been removed
        {
            foreach (RoomWait wait in _waits) wait.Ring();
        }
    }
}
