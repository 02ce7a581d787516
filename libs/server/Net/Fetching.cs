using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Tiering;
using Garnet.Server.Tiering;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>Commands of a reactor that came to values on the tier: they are put off until these are there, and nothing else waits.</summary>
internal sealed unsafe class Fetching
{
    private readonly Reactor _reactor;
    private readonly SessionTier? _tier;
    private bool _serves;

    internal Fetching(Reactor reactor)
    {
        _reactor = reactor;
        _tier = reactor.Session.Tier;
        if (_tier is not null)
            _tier.MayPostpone = MayPutOff;
    }

    /// <summary>The running command came with CLIENT REPLY SKIP.</summary>
    internal bool Skips { get; set; }

    /// <summary>True while fetched values are kept, which are to be given up soon.</summary>
    internal bool Keeps => _tier is { Keeps: true };

    /// <summary>True if that is what left the running command; else what was noted of it for a miss is forgotten.</summary>
    internal bool IsMiss(Exception error)
    {
        bool isMiss = error is ColdMissException;
        Skips &= isMiss;
        return isMiss;
    }

    /// <summary>Serves those who wait for keys, behind a command that has run: it cannot be put off any more.</summary>
    internal void ServeReady()
    {
        _serves = true;
        _reactor.Ready.Serve();
        _serves = false;
    }

    /// <summary>Takes the reads that have finished, and lets those go on that waited for them.</summary>
    internal void Poll()
    {
        if (_tier is not null && _tier.Poll(_reactor.NowMs))
            _reactor.Waiting.Resume(waiting => waiting is FetchWait fetch && !fetch.IsWaiting(_reactor));
    }

    /// <summary>The running command came to what is not at hand, and has changed nothing: it waits. All its keys are fetched at once.</summary>
    internal Reply PutOff(Connection client, Frame* frame)
    {
        if (Skips)
            client.Modes |= ClientModes.ReplySkip; // it runs again
        Skips = false;
        _reactor.Session.UnlockTo(0);
        _reactor.Session.ForgetWanted();
        _reactor.Session.NowMs = _reactor.NowMs;
        _reactor.TakeBackReply();
        _reactor.Notes.Clear();
        _reactor.Told.Clear();
        var call = new Call(_reactor, client, _reactor.Args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        if (KeyPositions.TryOf(ref call, _reactor.Server.Commands.Specs[frame->Command].Keys, out KeyPositions keys))
            FetchedKeys.Foresee(ref call, in keys, client.Database);
        _reactor.Park(client, new FetchWait(_tier!.TakeWanted()));
        return Reply.Postponed;
    }

    // Only what a connection has just sent can be framed again. A transaction and a script have taken locks or run other commands: they wait
    // where they are, as does a command that goes on for a client that waited.
    private bool MayPutOff()
    {
        int at = _reactor.FrameAt;
        // In the middle of its first change an edit has changed nothing yet, or does not ask.
        bool hasChanged = _reactor.Session.Changes - _reactor.ChangesBefore > 1;
        if (_serves || hasChanged || at >= _reactor.FrameCount || _reactor.Script is not null)
            return false;
        Frame* frame = _reactor.Frames + at;
        Connection client = _reactor.FrameClients[at];
        CommandFlags flags = (_reactor.Server.Commands.Entries + frame->Command)->Flags;
        bool runsOthers = (flags & (CommandFlags.RunsQueue | CommandFlags.RunsScript)) != 0;
        return !runsOthers && _reactor.Running == client && FetchedKeys.MayTry(client);
    }
}
