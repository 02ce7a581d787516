using Garnet.Types.Collections;
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

    /// <summary>Makes the visit; false if it is put off.</summary>
    internal bool TryRemove(StoreSession session, in KeyRef key, ref DueVisit visit)
    {
        Func<bool>? before = Allow(session);
        try
        {
            DueEntries.Remove(session, in key, ref visit);
            _tries = 0;
            return true;
        }
        catch (ColdMissException)
        {
            PutOff(session);
            return false;
        }
        catch
        {
            _tries = 0;
            throw;
        }
        finally
        {
            Disallow(session, before);
        }
    }

    /// <summary>Looks for what is to be visited, on from a cursor; false if that is put off.</summary>
    internal bool TryScan<T>(StoreSession session, in ReapScan scan, ref ulong cursor, ref T finder) where T : struct, IRead
    {
        Func<bool>? before = Allow(session);
        try
        {
            cursor = scan.Pass.Scan(session, scan.Namespace, cursor, scan.Records, ref finder);
            _tries = 0;
            return true;
        }
        catch (ColdMissException)
        {
            PutOff(session);
            return false;
        }
        catch
        {
            _tries = 0;
            throw;
        }
        finally
        {
            Disallow(session, before);
        }
    }

    private Func<bool>? Allow(StoreSession session)
    {
        if (session.Tier is not { } tier)
            return null;
        Func<bool>? before = tier.MayPostpone;
        tier.MayPostpone = MayPostpone;
        return before;
    }

    private static void Disallow(StoreSession session, Func<bool>? before)
    {
        if (session.Tier is { } tier)
            tier.MayPostpone = before;
    }

    private void PutOff(StoreSession session)
    {
        session.UnlockTo(0);
        _wanted = session.Tier!.TakeWanted();
    }

    private bool MayPostpone() => ++_tries < TriesMax;
}
