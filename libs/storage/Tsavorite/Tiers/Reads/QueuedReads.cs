using System.Diagnostics.CodeAnalysis;

namespace Tsavorite;

/// <summary>
/// The reads of a session that the device has not got yet: of records in one segment, and of those in several, of which one may have been begun that has more parts;
/// it is the first until all have been. Of what is read ahead the device gets one for each that somebody needs: a walk asks for very many.
/// </summary>
/// <param name="refuse">What need not wait, as the device owes too much.</param>
/// <param name="leave">What nobody waits for any more.</param>
internal sealed class QueuedReads(Action<ColdRead> refuse, Action<ColdRead> leave)
{
    private readonly LinkedList<ColdRead> _short = [], _ahead = [], _long = [];
    private bool _isAheadsTurn;

    /// <summary>True if there are some in several segments.</summary>
    public bool HasLong => _long.Count > 0;

    /// <summary>All of them.</summary>
    public IEnumerable<ColdRead> All => [.. _short, .. _ahead, .. _long];

    /// <summary>This one is behind the others.</summary>
    public void Append(ColdRead read) => read.QueuedAt = Of(read).AddLast(read);

    /// <summary>Somebody needs what was read ahead: it is behind the others that are needed.</summary>
    public void Need(ColdRead read)
    {
        bool isQueued = !read.IsLong && TryRemove(read);
        read.IsAhead = false;
        if (isQueued)
            Append(read);
    }

    /// <summary>This one is before the others of its kind, if the device has nothing of it yet: for who waits in place, and with him all that he holds up.</summary>
    public void Prefer(ColdRead? read)
    {
        if (read is not { State: ColdReadState.Queued, Long: null, QueuedAt: { List: { } reads } at })
            return;
        reads.Remove(at);
        if (reads.First is { Value.Long: not null } begun)
            reads.AddAfter(begun, at);
        else
            reads.AddFirst(at);
    }

    /// <summary>
    /// Takes the first in one segment that need not wait in vain: what has come before the device was late is not to wait as long again behind it, and is refused; what nobody
    /// waits for any more is left.
    /// </summary>
    public bool TryTake(DeviceReads device, [NotNullWhen(true)] out ColdRead? first)
    {
        while ((first = Next().First?.Value) is not null)
        {
            _isAheadsTurn = !first.IsAhead;
            TryRemove(first);
            if (!device.MayBegin(first))
                refuse(first);
            else if (first.IsInVain)
                leave(first);
            else
                return true;
        }

        return false;
    }

    private LinkedList<ColdRead> Next() => _short.Count == 0 || (_isAheadsTurn && _ahead.Count > 0) ? _ahead : _short;

    /// <summary>The first in several segments, which stays; those before it that nobody waits for any more, and that have not been begun, are left.</summary>
    public bool TryPeekLong([NotNullWhen(true)] out ColdRead? first)
    {
        while ((first = _long.First?.Value) is { IsInVain: true, Long: null })
        {
            _long.RemoveFirst();
            leave(first);
        }

        return first is not null;
    }

    /// <summary>The device has all of the first in several segments, or no more of it is read.</summary>
    public void RemoveFirstLong() => _long.RemoveFirst();

    /// <summary>Those in several segments that wait for a device that owes too much are refused.</summary>
    public void RefuseLong(DeviceReads device)
    {
        while (_long.First?.Value is { Long: null } first && device.Refuses(first, others: int.MaxValue))
        {
            _long.RemoveFirst();
            refuse(first);
        }
    }

    /// <summary>Takes it out, wherever it stands; false if it is not there.</summary>
    public bool TryRemove(ColdRead read)
    {
        if (read.QueuedAt is not { List: { } reads } at)
            return false;
        reads.Remove(at);
        return true;
    }

    private LinkedList<ColdRead> Of(ColdRead read) => read.IsLong ? _long : read.IsAhead ? _ahead : _short;
}
