namespace Garnet.Server.Blocking;

/// <summary>A worker on which commands wait for keys.</summary>
internal interface IReadyWorker
{
    /// <summary>Keys that they wait for and that have been written.</summary>
    ReadyKeys Ready { get; }
}
