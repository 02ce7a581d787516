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
    private bool _mayPutOff;

    internal Fetching(Reactor reactor)
    {
        _reactor = reactor;
        IsOn = reactor.Store.Settings.Tier is not null;
        if (IsOn)
            reactor.Session.MayPostpone = MayPutOff;
    }

    /// <summary>True if there is a tier.</summary>
    internal bool IsOn { get; }

    /// <summary>A batch begins, or has ended: only a command that a connection has just sent can be framed again.</summary>
    internal void InBatch(bool inBatch) => _mayPutOff = inBatch;

    /// <summary>Takes the reads that have finished, and lets those go on that waited for them.</summary>
    internal void Poll()
    {
        if (_reactor.Session.PollReads())
            _reactor.Waiting.Resume(waiting => waiting is FetchWait fetch && !fetch.IsWaiting(_reactor));
    }

    /// <summary>The running command came to what is not at hand, and has changed nothing: it waits. All its keys are fetched at once.</summary>
    internal Reply PutOff(Connection client, Frame* frame)
    {
        _reactor.Session.UnlockTo(0);
        _reactor.Session.ForgetWanted();
        _reactor.Session.NowMs = _reactor.NowMs;
        _reactor.TakeBackReply();
        _reactor.Notes.Clear();
        _reactor.Told.Clear();
        var call = new Call(_reactor, client, _reactor.Args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        if (KeyPositions.TryOf(ref call, _reactor.Server.Commands.Specs[frame->Command].Keys, out KeyPositions keys))
            FetchedKeys.Foresee(ref call, in keys, client.Database);
        _reactor.Park(client, new FetchWait(_reactor.Session.TakeWantedReads()));
        return Reply.Postponed;
    }

    // A transaction and a script have taken locks or run other commands: they wait where they are.
    private bool MayPutOff()
    {
        if (!_mayPutOff || _reactor.Session.Changes != _reactor.ChangesBefore || _reactor.Script is not null || _reactor.FrameAt >= _reactor.FrameCount)
            return false;
        Frame* frame = _reactor.Frames + _reactor.FrameAt;
        CommandFlags flags = (_reactor.Server.Commands.Entries + frame->Command)->Flags;
        return (flags & (CommandFlags.RunsQueue | CommandFlags.RunsScript)) == 0 && FetchedKeys.MayTry(_reactor.FrameClients[_reactor.FrameAt]);
    }
}
