using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Expiry;

/// <summary>What a visit of the walk for due entries waits for that lies on a tier: it has changed nothing, or what it had changed was taken back, and is made again.</summary>
internal sealed class ReapWait
{
    // Of one visit, each for something that it lacks: what it had waited for may have left again each time. It waits where it stands then.
    private const int TriesMax = 64;

    private ColdWait? _wanted;
    private int _tries;

    /// <summary>True from when a visit was put off until it may be made again.</summary>
    internal bool IsBegun => _wanted is not null;

    /// <summary>True while something has not come yet. False: what has come is to be used now.</summary>
    internal bool IsWaiting(SessionTier? tier)
    {
        if (_wanted is not null && tier!.Awaits(_wanted))
            return true;
        _wanted = null;
        return false;
    }

    /// <summary>Makes the visit; false if it is put off.</summary>
    internal bool TryRemove(StoreSession session, in KeyRef key, ref DueVisit visit)
    {
        Func<bool>? before = session.Tier?.MayPostpone;
        try
        {
            if (session.Tier is { } tier)
                tier.MayPostpone = MayPostpone;
            DueEntries.Remove(session, in key, ref visit);
            _tries = 0;
            return true;
        }
        catch (ColdMissException)
        {
            session.UnlockTo(0);
            _wanted = session.Tier!.TakeWanted();
            return false;
        }
        catch
        {
            _tries = 0;
            throw;
        }
        finally
        {
            if (session.Tier is { } tier)
                tier.MayPostpone = before;
        }
    }

    private bool MayPostpone() => ++_tries < TriesMax;
}
