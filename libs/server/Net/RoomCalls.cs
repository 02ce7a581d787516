using Garnet.Server.Clients;
using Garnet.Server.Tiering;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>Puts off commands of a reactor that found no room in memory, and calls them when there may be some (<see cref="RoomLine"/>).</summary>
internal sealed class RoomCalls
{
    // As many as a batch has: who finds no room holds up those behind it, which are put off again.
    private const int CalledMax = FrameBatch.FramesMax;

    private readonly Worker _worker;
    private readonly RoomLine _line;
    private readonly StepRoom _room;
    private readonly List<Connection> _called = [];
    private MemoryWait? _next; // of the command that has just been left for want of room

    internal RoomCalls(Worker worker, RoomLine line, StepRoom room)
    {
        _worker = worker;
        _line = line;
        _room = room;
        room.Wait.OnRoom = () =>
        {
            line.Come();
            worker.Nudge();
        };
    }

    /// <summary>True while somebody waits.</summary>
    internal bool HasAny => _line.HasAny;

    /// <summary>Between two batches: those who wait are called if there may be room.</summary>
    internal void Poll()
    {
        if (_line.HasAny && _line.IsCalled())
            Call();
        WithdrawIfNobody();
    }

    /// <summary>Behind a batch: where one has found room there may be some for who comes after him, also if nobody has called them.</summary>
    internal void EndBatch()
    {
        if (_line.HasAny && _line.IsCalled())
            _worker.Nudge();
        WithdrawIfNobody();
    }

    /// <summary>True if the client's command may wait for room; <see cref="Begin"/> follows.</summary>
    internal bool TryNext(Connection client)
    {
        _next = MemoryWait.Next(client, _line, _worker.NowMs);
        return _next is not null;
    }

    /// <summary>The wait of the command, which lacked so many bytes and has changed nothing.</summary>
    internal Parking Begin(Connection client, long bytes)
    {
        MemoryWait wait = _next!;
        bool isThere = _room.Ensure(bytes);
        if (isThere || _room.IsComing)
            wait.Await(_room, bytes, isThere, client, _line, _worker.NowMs);
        else
            wait.GiveUp(client, _line, _worker.NowMs);
        return wait;
    }

    // The last may have found room before he was called, or have gone: the movers are to make no more of it.
    private void WithdrawIfNobody()
    {
        if (!_line.HasAny)
            _room.Wait.Withdraw();
    }

    // tiering.M2: they are framed in this round, in their order.
    private void Call()
    {
        _line.CopyFirst(CalledMax, _called);
        foreach (Connection client in _called)
        {
            if (client.Waiting is not MemoryWait wait)
                continue;
            wait.IsCalled = true;
            _worker.TryResume(client);
        }

        _called.Clear();
    }
}
