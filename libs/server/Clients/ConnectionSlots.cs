namespace Garnet.Server.Clients;

/// <summary>The connections of a reactor, by the slot that the transport names them by. Its thread changes them, others list them.</summary>
internal sealed class ConnectionSlots
{
    private readonly Lock _gate = new();
    private readonly List<int> _free = [];
    private Connection?[] _slots = new Connection?[16];
    private int _count;

    /// <summary>Gives the connection a slot.</summary>
    internal void Add(Connection client)
    {
        lock (_gate)
        {
            int slot;
            if (_free.Count > 0)
            {
                slot = _free[^1];
                _free.RemoveAt(_free.Count - 1);
            }
            else
            {
                slot = _count++;
                if (slot == _slots.Length)
                    Array.Resize(ref _slots, slot * 2);
            }

            client.Slot = slot;
            _slots[slot] = client;
        }
    }

    /// <summary>Frees its slot.</summary>
    internal void Remove(Connection client)
    {
        lock (_gate)
        {
            _slots[client.Slot] = null;
            _free.Add(client.Slot);
        }
    }

    /// <summary>The connection that is ready; null if it has gone.</summary>
    internal Connection? Find(ReadyEvent ready)
    {
        Connection? client = (uint)ready.Slot < (uint)_slots.Length ? _slots[ready.Slot] : null;
        return client is not null && (int)client.Id == ready.Stamp ? client : null;
    }

    /// <summary>The connections held now; from any thread.</summary>
    internal void CopyTo(List<Connection> to)
    {
        lock (_gate)
        {
            for (int i = 0; i < _count; i++)
            {
                if (_slots[i] is { } client)
                    to.Add(client);
            }
        }
    }

    /// <summary>Does something to the connections that meet the condition; it may remove them.</summary>
    internal void ForEach(Predicate<Connection> condition, Action<Connection> act)
    {
        for (int i = 0; i < _count; i++)
        {
            if (_slots[i] is { } client && condition(client))
                act(client);
        }
    }
}
