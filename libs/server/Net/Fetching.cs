using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Tiering;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>
/// Commands of a reactor that came to values on the tier, or to want of memory that can be mended: they are put off until these are there, or
/// there is room, and nothing else waits.
/// </summary>
internal sealed unsafe class Fetching
{
    private readonly Executor _worker;
    private readonly BatchRunner _runner;
    private readonly SessionTier? _tier;
    private readonly RoomCalls _rooms;

    internal Fetching(Executor worker, BatchRunner runner)
    {
        _worker = worker;
        _runner = runner;
        _tier = worker.Session.Tier;
        _rooms = new RoomCalls(worker, worker.RoomLine, worker.Session.Room);
        worker.Session.Room.MayPostpone = MayWaitForRoom;
        if (_tier is null)
            return;
        (_tier.MayPostpone, _tier.Turn) = (MayFetch, Turn);
        worker.LooksBehind = LookBehind;
    }

    /// <summary>True while fetched values are kept, which are to be given up soon, or reads have not finished, which may be late.</summary>
    internal bool Keeps => _tier is { Keeps: true } or { Pending: > 0 };

    /// <summary>Takes the reads that have finished, and lets those go on that waited for them.</summary>
    internal void Poll()
    {
        if (_tier is not null && _tier.Poll(_worker.NowMs))
            _worker.ResumeWhere(waiting => waiting is FetchWait fetch && !fetch.IsWaiting(_worker));
        _rooms.Poll();
    }

    /// <summary>True while clients of the reactor wait for room: whoever needs some is asked.</summary>
    internal bool HasLine => _rooms.HasAny;

    /// <summary>Behind a batch.</summary>
    internal void EndBatch() => _rooms.EndBatch();

    /// <summary>The running command came to what is not at hand, and has changed nothing: it waits. All its keys are fetched at once.</summary>
    internal Reply PutOff(Connection client, Frame* frame, Exception miss)
    {
        _worker.Session.UnlockTo(0);
        _worker.Session.ForgetWanted();
        _worker.ReadsBefore.TakeBack(_worker.Session);
        _worker.Session.NowMs = _worker.NowMs;
        _worker.TakeBackReply();
        _worker.Server.Observers.HandOnOfFailed(_worker);
        _worker.Park(client, miss is RoomMissException { Bytes: var bytes } ? _rooms.Begin(client, bytes) : BeginReads(client, frame));
        return Reply.Postponed;
    }

    private Parking BeginReads(Connection client, Frame* frame)
    {
        Look(client, frame);
        _tier!.EndNamed();
        LookBehind(client);
        _tier.BeginReads();
        return new FetchWait(_tier.TakeWanted(), client);
    }

    private void Look(Connection client, Frame* frame)
    {
        Call call = CallOf(client, frame);
        if (KeyPositions.TryOf(ref call, _worker.Server.Commands.Specs[frame->Command].Keys, out KeyPositions keys))
            FetchedKeys.Look(ref call, in keys, client.Database);
    }

    private Call CallOf(Connection client, Frame* frame) =>
        new(_worker, client, _runner.Batch.Args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);

    // It is fetched with what the running command needs, side by side: otherwise a pipeline would wait for the device at each of its commands.
    private void LookBehind(Connection client)
    {
        FrameBatch batch = _runner.Batch;
        for (int at = _runner.At + 1; at < batch.Count && batch.Clients[at] == client && _tier!.MayReadAhead; at++)
            Look(client, batch.Frames + at);
    }

    // A command's, with what a script or a transaction runs; outside of batches a round's.
    private long Turn()
    {
        if (_runner.At >= _runner.Batch.Count)
            return -_worker.NowMs;
        Connection client = _runner.Batch.Clients[_runner.At];
        return (client.Id << SessionTier.ClientShift) ^ client.Commands;
    }

    // In the middle of its first change an edit has changed nothing yet, or does not ask.
    private bool MayFetch()
    {
        if (!MayPutOff(changesMax: 1, CommandFlags.RunsQueue | CommandFlags.RunsScript))
            return false;
        Connection client = _runner.Batch.Clients[_runner.At];
        if (client.PutOffs?.FetchTooMuchIn == client.Commands)
            throw FetchedKeys.TooMuch();
        return FetchedKeys.MayTry(client, _tier!, _tier!.Missing);
    }

    // A script asks before it takes its locks.
    private bool MayWaitForRoom() =>
        MayPutOff(changesMax: 0, CommandFlags.RunsQueue) && _rooms.TryNext(_runner.Batch.Clients[_runner.At]);

    // Only what a connection has just sent can be framed again. A transaction and a script have taken locks or run other commands: they wait
    // where they are, as does a command that goes on for a client that waited.
    private bool MayPutOff(long changesMax, CommandFlags never)
    {
        int at = _runner.At;
        bool hasChanged = _worker.Session.Changes - _worker.ChangesBefore > changesMax;
        if (_worker.Ready.IsServing || hasChanged || at >= _runner.Batch.Count || _worker.Script is not null)
            return false;
        Frame* frame = _runner.Batch.Frames + at;
        Connection client = _runner.Batch.Clients[at];
        CommandFlags flags = (_worker.Server.Commands.Entries + frame->Command)->Flags;
        return (flags & never) == 0 && _worker.Running == client;
    }
}
