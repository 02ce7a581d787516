using Tsavorite;

namespace Garnet.Server.Expiry;

/// <summary>
/// What the walk for due entries, or a visit of it, waits for that lies on a tier: it has changed nothing, or what it had changed was taken back, and is made again.
/// </summary>
internal sealed class ReapWait
{
    // Of one visit, or one part of the walk, each for something that it lacks: what it had waited for may have left again each time. It waits where it stands then.
    private const int TriesMax = 64;

    private ColdWait? _wanted;
    private int _tries;

    /// <summary>True from when it was put off until it may be made again.</summary>
    internal bool IsBegun => _wanted is not null;

    /// <summary>True while something has not come yet. False: what has come is to be used now.</summary>
    internal bool IsWaiting(SessionTier? tier)
    {
        if (_wanted is not null && tier!.Awaits(_wanted))
            return true;
        _wanted = null;
        return false;
    }

    /// <summary>Makes the visit, or looks for what is to be visited; false if that is put off.</summary>
    internal bool Try<T>(StoreSession session, ref T step) where T : struct, IReapStep
    {
        Func<bool>? before = session.Tier?.MayPostpone;
        if (session.Tier is { } tier)
            tier.MayPostpone = MayPostpone;
        try
        {
            step.Run(session);
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
            if (session.Tier is { } after)
                after.MayPostpone = before;
        }
    }

    private bool MayPostpone() => ++_tries < TriesMax;
}
