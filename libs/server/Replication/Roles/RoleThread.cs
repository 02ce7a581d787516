using Garnet.Common;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>
/// The thread on which roles are changed (replication.Z1), from the first word on: it takes what <see cref="RoleState"/> has been told, and follows a
/// primary for as long as nothing else is wanted.
/// </summary>
internal sealed class RoleThread
{
    private readonly ServerCore _server;
    private readonly RoleState _role;
    private readonly Demotion _demotion;
    private readonly Promotion _promotion;
    private readonly RoleGiving _giving;
    private readonly Func<Follower, Peer, Following> _follow;
    private readonly Signal _told = new();
    private Thread? _thread; // begun under the role's lock

    internal RoleThread(
        ServerCore server, RoleState role, Demotion demotion, Promotion promotion, RoleGiving giving,
        Func<Follower, Peer, Following> follow)
    {
        (_server, _role, _demotion, _promotion, _giving, _follow) = (server, role, demotion, promotion, giving, follow);
        role.Told += Wake;
    }

    /// <summary>Waits for the end of what it does; the role has been stopped.</summary>
    internal void Stop()
    {
        _told.Set();
        _thread?.Join();
    }

    private void Wake()
    {
        _thread ??= BackgroundThread.Begin("replication", Run, _server.Fail);
        _told.Set();
    }

    private void Run()
    {
        while (true)
        {
            _told.Wait(Timeout.Infinite);
            try
            {
                if (_role.Handover is { } handover && !_role.Stops && _giving.Run(handover))
                    Lead();
                while (_role.TryTakeWanted(out Peer? primary))
                    Take(primary);
            }
            catch (Exception e) when (BackgroundThread.IsOfEnvironment(e))
            {
                _server.Fail(BackgroundThread.FailureOf("the role of this server cannot be changed", e));
                return;
            }

            if (_role.Stops)
                return;
        }
    }

    private void Take(Peer? primary)
    {
        if (primary is null)
            Lead();
        else
            Follow(primary);
    }

    private void Lead()
    {
        _promotion.Run();
        _role.Settle();
    }

    private void Follow(Peer primary)
    {
        Follower follower = _role.Follower ?? _demotion.Run();
        Following following = _follow(follower, primary);
        _role.Following = following;
        _role.Settle();
        _server.Log.Follows(primary.ToString());
        following.Run();
        _role.Following = null;
    }
}
