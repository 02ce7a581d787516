using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Tiering;

/// <summary>A write that found no room while room is being made; it is framed again when it is called (<see cref="RoomLine"/>), or when its patience is over.</summary>
internal sealed class MemoryWait : Parking
{
    /// <summary>So long one waits where something may be evicted instead, and looks again if nobody has called him.</summary>
    internal const int PatienceMs = 100;
    private const int WaitMaxMs = 10_000; // a disk may stall for seconds, and a snapshot take as long: later is better than refused
    private const int PauseMs = 5; // where it found none again though there was some: others are served meanwhile
    private const long NotToBeHad = 0; // as the end of a wait: no room is to be had for this one, as there may be for another
    private const long Refused = Connection.NoCommand - 1; // the last wait has ended in vain

    private readonly bool _isSame;

    private MemoryWait(long deadlineMs, bool isSame)
    {
        DeadlineMs = deadlineMs;
        _isSame = isSame;
    }

    /// <summary>There may be room.</summary>
    internal bool IsCalled { get; set; }

    /// <summary>The wait of the command that the client is at, with its place among the others; null if that has waited for long enough.</summary>
    internal static MemoryWait? Next(Connection client, RoomLine line, long nowMs)
    {
        PutOffs noted = client.NotedPutOffs;
        bool isSame = client.Commands == noted.RoomCommand + 1; // the same one, framed again
        // One that comes right behind, as of a pipeline, would wait in vain as well: it is refused, so that not each of them takes as long.
        bool isInVain = noted.RoomCommand == Refused && nowMs < noted.RoomUntilMs + PatienceMs;
        noted.RoomCommand = client.Commands;
        if (noted.FetchCommand == client.Commands - 1)
            noted.FetchCommand = client.Commands; // it has been put off for what lies on the tier, too, and may be again
        if (!isSame)
            noted.RoomUntilMs = isInVain ? nowMs : nowMs + WaitMaxMs;
        if (nowMs < noted.RoomUntilMs)
        {
            line.Join(client, isSame);
            return new MemoryWait(Math.Min(nowMs + PatienceMs, noted.RoomUntilMs), isSame);
        }

        line.Leave(client);
        noted.RoomCommand = noted.RoomUntilMs == NotToBeHad ? Connection.NoCommand : Refused; // the next one is another
        return null;
    }

    /// <summary>True if the command that the client is at, which has found no room again, has waited for as long as one need that may evict.</summary>
    internal static bool HasWaited(Connection client, long nowMs) =>
        IsFramedAgain(client) && IsOver(client, nowMs);

    /// <summary>The command that the client is at is put off for something else than room: its wait for that, if it has one, begins not anew.</summary>
    internal static void Carry(Connection client)
    {
        if (client.PutOffs is { } noted && noted.RoomCommand == client.Commands - 1)
            noted.RoomCommand = client.Commands;
    }

    /// <summary>True if it waits no longer: it runs if there is room, or is refused.</summary>
    internal static bool HasEnded(Connection client, long nowMs) =>
        IsFramedAgain(client) && nowMs >= client.PutOffs!.RoomUntilMs;

    /// <summary>The command lacks so many bytes, which are to come or have come by now: it is called then.</summary>
    internal void Await(StepRoom room, long bytes, bool isThere, Connection client, RoomLine line, long nowMs)
    {
        if (RoomLine.IsLarge(bytes) && IsOver(client, nowMs))
            line.Leave(client);
        if (isThere && _isSame)
        {
            DeadlineMs = nowMs + PauseMs;
            return;
        }

        line.Stop();
        room.Wait.Ask(bytes);
    }

    /// <summary>There is no room to be had: the client's command, which is put off, waits no longer.</summary>
    internal void GiveUp(Connection client, RoomLine line, long nowMs)
    {
        line.Leave(client);
        client.NotedPutOffs.RoomUntilMs = NotToBeHad;
        DeadlineMs = nowMs + 1;
    }

    internal override bool OutlivesPeer => true;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client) => IsCalled || worker.NowMs >= DeadlineMs;

    private static bool IsFramedAgain(Connection client) => client.PutOffs is { } noted && client.Commands == noted.RoomCommand + 1;

    private static bool IsOver(Connection client, long nowMs) => nowMs >= client.PutOffs!.RoomUntilMs - WaitMaxMs + PatienceMs;
}
