using System.Collections.Concurrent;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Tracking;

/// <summary>
/// Client-side caching: remembers what the clients that asked for it have read, and tells them when it changes.
///
/// tracking.T1  A key is remembered before it is read: a change after that is told after the reply to the read, since messages of
///     other reactors arrive in a later round. So nobody keeps a stale value.
/// tracking.T2  A key is told once and forgotten, until it is read again. By prefix it is told every time, once per batch.
/// tracking.T3  There are never many more keys than tracking-table-max-keys, nor do their names take much more than <see cref="NameBytes"/>
///     for each of so many, nor are they held by more than <see cref="HoldersMean"/> clients each on the mean of so many: some key is told as if it
///     had changed.
/// </summary>
internal sealed class Tracker
{
    /// <summary>
    /// Bytes of a key's name for which the table has room: longer than names are as a rule. A name may have up to half a GiB, also of a key
    /// that is not there.
    /// </summary>
    private const int NameBytes = 128;

    private const int LongNameBytes = 4096;

    /// <summary>Clients that hold a key, for which the table has room: few keys are read by all who track.</summary>
    private const int HoldersMean = 16;

    private readonly InspectSettings _settings;
    private readonly WorkerSet _workers;
    private readonly Listeners _trackers;
    private readonly Lock _gate = new();
    private volatile Table? _table; // made for the first who tracks: most servers have none, and start without its code

    internal Tracker(InspectSettings settings, WorkerSet workers, Listeners trackers) =>
        (_settings, _workers, _trackers) = (settings, workers, trackers);

    /// <summary>Clients that track.</summary>
    internal int Clients => _table?.Clients.Count ?? 0;
    internal long Keys => _table?.Keys.Keys ?? 0;
    internal long Items => _table?.Keys.Items ?? 0;

    /// <summary>Bytes of memory that the keys take, with who holds them.</summary>
    internal long MemoryBytes => _table?.Keys.MemoryBytes ?? 0;
    internal int PrefixCount => _table?.Prefixes.Count ?? 0;

    /// <summary>Begins, or goes on in another way and with more prefixes; on the client's thread.</summary>
    internal void Enable(Connection client, TrackingState state, IEnumerable<byte[]> morePrefixes)
    {
        TrackingState? before = client.Tracking;
        state.Caching = before?.Caching ?? false;
        client.Tracking = state;
        client.Modes |= ClientModes.Tracking;
        if (before is null)
            _trackers.Enter(); // tracking.T1: whoever reads after this is told
        lock (_gate)
        {
            Table table = _table ??= new Table();
            table.Clients[client.Id] = client;
            table.Prefixes.Add(client, morePrefixes);
        }
    }

    /// <summary>Ends; on the client's thread.</summary>
    internal void Disable(Connection client)
    {
        if (client.Tracking is not { } state)
            return;
        client.Tracking = null;
        client.Modes &= ~ClientModes.Tracking;
        lock (_gate)
        {
            Table table = _table!;
            table.Clients.TryRemove(client.Id, out _);
            table.Prefixes.Remove(client, state.Prefixes);
            if (table.Clients.IsEmpty)
                table.Keys.Clear();
        }

        _trackers.Leave();
    }

    /// <summary>Remembers a key that the client is about to read (tracking.T1).</summary>
    internal void Remember(Connection client, ReadOnlySpan<byte> key) => _table!.Keys.Add(key, client.Id);

    /// <summary>Sees that there are not too many keys (tracking.T3): a long one goes at once, and takes nobody else's place.</summary>
    internal void Trim(Worker from, ReadOnlySpan<byte> remembered)
    {
        if (remembered.Length > LongNameBytes && _settings.TrackedKeysMax > 0)
            Tell(from, remembered.ToArray(), null);
        Trim(from);
    }

    private void Trim(Worker from)
    {
        if (_table is not { } table)
            return;
        for (long limit = _settings.TrackedKeysMax; limit > 0 && IsOver(table.Keys, limit);)
        {
            if (table.Keys.Victim() is not { } victim)
                return;
            Tell(from, victim, null);
        }
    }

    private static bool IsOver(TrackedKeys keys, long limit) =>
        keys.Keys > limit || keys.Bytes / NameBytes > limit || keys.Items / HoldersMean > limit;

    /// <summary>Looks at the setting again.</summary>
    internal void Fit()
    {
        _workers.First?.Post(static (owner, _, content) => ((Tracker)content!).Trim(owner), null, this);
    }

    /// <summary>A key has changed.</summary>
    internal void Changed(Worker from, KeyNote note)
    {
        if (_table is not { Clients.IsEmpty: false } table)
            return;
        if (table.Prefixes.Count > 0)
            from.Broadcasts[note.Key] = note.Origin;
        Tell(from, note.Key, note.Origin);
    }

    /// <summary>Tells what has changed since the last time to those who want it by prefix.</summary>
    internal void Broadcast(Worker from)
    {
        if (_table is not { } table)
            return;
        foreach (Prefixes.Hit hit in table.Prefixes.Of(from.Broadcasts.Keys))
        {
            var whole = new Invalidation(hit.Keys);
            foreach (Connection client in hit.Clients)
            {
                if (client.Tracking is not { } state)
                    continue;
                bool all = (state.Modes & TrackingModes.NoLoop) == 0;
                List<byte[]> others = all ? hit.Keys : hit.Keys.FindAll(key => from.Broadcasts[key] != client);
                if (others.Count > 0)
                    Invalidation.Send(from, client, state, others.Count == hit.Keys.Count ? whole : new Invalidation(others));
            }
        }

        from.Broadcasts.Clear();
    }

    /// <summary>Databases were emptied or swapped: whatever anybody holds is worth nothing.</summary>
    internal void Flushed(Worker from)
    {
        if (_table is not { Clients.IsEmpty: false } table)
            return;
        table.Keys.Clear();
        foreach (Connection client in table.Clients.Values)
        {
            if (client.Tracking is { } state)
                Invalidation.Send(from, client, state, Invalidation.Everything);
        }
    }

    private void Tell(Worker from, byte[] key, Connection? origin)
    {
        if (_table is not { } table)
            return;
        IReadOnlyCollection<long> ids = table.Keys.Take(key);
        if (ids.Count == 0)
            return;
        var changed = new Invalidation([key]);
        foreach (long id in ids)
        {
            if (!table.Clients.TryGetValue(id, out Connection? client) || client.Tracking is not { } state
                || (state.Modes & TrackingModes.Broadcast) != 0)
                continue;
            if (client != origin || (state.Modes & TrackingModes.NoLoop) == 0)
                Invalidation.Send(from, client, state, changed);
        }
    }

    /// <summary>Who tracks, and what.</summary>
    private sealed class Table
    {
        internal Table() => Keys = new TrackedKeys(Clients);

        internal ConcurrentDictionary<long, Connection> Clients { get; } = new();
        internal TrackedKeys Keys { get; }
        internal Prefixes Prefixes { get; } = new();
    }
}
