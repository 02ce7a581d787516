using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// A replica's part in the comparison of data (rule replication.Z9): once the batch of its primary's digest is applied here, everything is read, and
/// compared if no other batch came in between. Batches do not wait for it. Steppable like the links.
/// </summary>
internal sealed class DigestCheck(Store store, int databases, Follower follower)
{
    private DigestFrame? _told;

    /// <summary>The primary has told what its data were; an earlier one that was not looked at yet is of no use any more.</summary>
    internal void Take(DigestFrame digest) => Volatile.Write(ref _told, digest);

    /// <summary>True while one waits to be looked at.</summary>
    internal bool Waits => Volatile.Read(ref _told) is not null;

    /// <summary>Compares if the time has come: null if nothing was compared, else whether the data are the same.</summary>
    internal bool? Turn()
    {
        if (Volatile.Read(ref _told) is not { } told || !follower.IsFed)
            return null;
        AppliedPlace place = Place();
        if (place.Number < told.Batch)
            return null; // it is on its way
        Interlocked.CompareExchange(ref _told, null, told);
        if (place != new AppliedPlace(told.Term, told.Batch))
            return null;
        // What is found to differ is looked at again: a full copy is not made for a reading that something unsettled.
        return Agrees(told) switch { false => Agrees(told), var found => found };
    }

    private bool? Agrees(DigestFrame told)
    {
        var wanted = new AppliedPlace(told.Term, told.Batch);
        Func<bool> isStill = () => follower.IsFed && follower.Applied == told.Batch;
        StoreDigest? own = StoreDigest.TryOf(store, databases, isStill);
        return own is null || Place() != wanted ? null : told.Agrees(own.Keys, own.Sums);
    }

    // Where the store stands when no batch is being applied.
    private AppliedPlace Place() => follower.AtBoundary(static (term, batch) => new AppliedPlace(term, batch)) ?? new AppliedPlace(0, 0);

    private sealed record AppliedPlace(uint Term, ulong Number);
}
