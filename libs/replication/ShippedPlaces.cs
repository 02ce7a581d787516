using Garnet.Aof;
using Garnet.Aof.Shipping;

namespace Garnet.Replication;

/// <summary>
/// The places a link has gone through, to judge what its replica says of them: the one where it began, the last ones shipped, and those
/// that the backlog knows.
/// </summary>
public sealed class ShippedPlaces(Backlog backlog, LogPosition start)
{
    private const int KeptMax = 1024; // more are under way only where the backlog has them, or to a replica that is far behind

    private readonly (ulong Batch, uint Term, uint Mark)[] _last = new (ulong, uint, uint)[KeptMax];

    /// <summary>The last batch shipped.</summary>
    public ulong End { get; private set; } = start.Batch;

    /// <summary>A batch is shipped.</summary>
    public void Add(BatchBytes batch)
    {
        _last[batch.Batch % KeptMax] = (batch.Batch, batch.Term, batch.Mark);
        End = batch.Batch;
    }

    /// <summary>Whether the link went through a place; null if that cannot be said any more.</summary>
    public bool? Has(uint term, ulong batch, uint mark)
    {
        if (batch < start.Batch || batch > End)
            return false;
        if (batch == start.Batch)
            return (term, mark) == (start.Term, start.Mark);
        if (_last[batch % KeptMax] is var place && place.Batch == batch)
            return (term, mark) == (place.Term, place.Mark);
        return backlog.PositionAt(batch) is { } known ? (term, mark) == (known.Term, known.Mark) : null;
    }
}
