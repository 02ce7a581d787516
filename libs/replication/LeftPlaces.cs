using Garnet.Aof.Shipping;
using Garnet.Common.Time;

namespace Garnet.Replication;

/// <summary>
/// The places in the log of replicas whose connections broke, for them to come back to: what they have not got is kept as if they were
/// there, within the limits of the <see cref="Backlog"/> or of the files, for as long as a silent connection is believed in.
/// </summary>
public sealed class LeftPlaces(IClock clock, Action<HelloFacts, string> onGivenUp)
{
    private const int PlacesMax = 64; // of replicas that come as often under other names, the last ones

    private readonly Lock _gate = new();
    private readonly List<Place> _places = [];
    private volatile bool _any;

    /// <summary>The first batch that is needed; <see cref="ulong.MaxValue"/> without a place.</summary>
    public ulong NeededFrom
    {
        get
        {
            lock (_gate)
                return _places.Count == 0 ? ulong.MaxValue : _places.Min(static place => place.Needed);
        }
    }

    /// <summary>Keeps a place; its pin is from then on this one's. Without one the files have what is needed.</summary>
    public void Keep(HelloFacts replica, ulong needed, BacklogPin? pin)
    {
        Forget(replica.RunId);
        lock (_gate)
        {
            if (_places.Count == PlacesMax)
                GiveUp(0, "there are too many");
            _places.Add(new Place(replica, needed, pin, clock.MonotonicUs));
            _any = true;
        }
    }

    /// <summary>The replica has come back, and has its place itself.</summary>
    public void Forget(string runId)
    {
        lock (_gate)
        {
            int at = _places.FindIndex(place => place.Replica.RunId == runId);
            if (at < 0)
                return;
            _places[at].Pin?.Dispose();
            _places.RemoveAt(at);
            _any = _places.Count > 0;
        }
    }

    /// <summary>
    /// Gives up who has been away for longer than this, and whose batches had to make way (<paramref name="first"/> is the first one
    /// there is). Called whenever a batch has come: until then nothing more is kept.
    /// </summary>
    public void Review(int keepSeconds, ulong first)
    {
        if (!_any)
            return;
        lock (_gate)
        {
            for (int i = _places.Count - 1; i >= 0; i--)
            {
                if (clock.MonotonicUs - _places[i].SinceUs >= keepSeconds * 1_000_000L)
                    GiveUp(i, "it has not come back for repl-timeout");
                else if (_places[i].Needed < first)
                    GiveUp(i, "what it has not got exceeds the memory for it (repl-backlog-size, client-output-buffer-limit)");
            }

            _any = _places.Count > 0;
        }
    }

    /// <summary>This server's log goes another way: nobody's place is one any more.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            foreach (Place place in _places)
                place.Pin?.Dispose();
            _places.Clear();
            _any = false;
        }
    }

    private void GiveUp(int index, string why)
    {
        Place place = _places[index];
        place.Pin?.Dispose();
        _places.RemoveAt(index);
        onGivenUp(place.Replica, why);
    }

    private sealed record Place(HelloFacts Replica, ulong Needed, BacklogPin? Pin, long SinceUs);
}
