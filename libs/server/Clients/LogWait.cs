namespace Garnet.Server.Clients;

/// <summary>A command that waits for the log: looked at whenever it advances, and at every tick.</summary>
internal abstract class LogWait : Parking
{
    protected LogWait() => DeadlineMs = EveryTick;
}
