using Garnet.Server.Clients;

namespace Garnet.Server.Tiering;

/// <summary>A write that found no room while room is being made; it is framed again a moment later.</summary>
internal sealed class MemoryWait : Parking
{
    private const int PauseMs = 5;
    private const int WaitMaxMs = 10_000; // a disk may stall for seconds, and a snapshot take as long: later is better than refused
    private const int PatienceMs = 100; // where something may be evicted instead: others take what room there is, and one waits long
    private const long None = -2;

    private MemoryWait(long nowMs) => DeadlineMs = nowMs + PauseMs;

    /// <summary>The wait of the command that the client is at; null if that has waited for long enough.</summary>
    internal static MemoryWait? Next(Connection client, long nowMs)
    {
        bool isSame = client.Commands == client.RoomCommand + 1; // the same one, framed again
        client.RoomCommand = client.Commands;
        if (client.FetchCommand == client.Commands - 1)
            client.FetchCommand = client.Commands; // it has been put off for what lies on the tier, too, and may be again
        if (!isSame)
            client.RoomUntilMs = nowMs + WaitMaxMs;
        if (nowMs < client.RoomUntilMs)
            return new MemoryWait(nowMs);
        client.RoomCommand = None; // it is refused: the next one is another
        return null;
    }

    /// <summary>True if the command that the client is at, which has found no room again, has waited for as long as one need that may evict.</summary>
    internal static bool HasWaited(Connection client, long nowMs) =>
        client.Commands == client.RoomCommand + 1 && nowMs >= client.RoomUntilMs - WaitMaxMs + PatienceMs;

    /// <summary>The command that the client is at is put off for something else than room: its wait for that, if it has one, begins not anew.</summary>
    internal static void Carry(Connection client)
    {
        if (client.RoomCommand == client.Commands - 1)
            client.RoomCommand = client.Commands;
    }

    /// <summary>There is no room to be had: the client's command waits no longer.</summary>
    internal static void GiveUp(Connection client, long nowMs) => client.RoomUntilMs = nowMs;

    internal override bool OutlivesPeer => true;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client) => worker.NowMs >= DeadlineMs || !worker.Store.Tight;
}
