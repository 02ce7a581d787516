namespace Garnet.Server.Clients;

/// <summary>
/// A batch of this server's own log, with the term it was written in: what a client's change is in. A number alone says nothing once
/// another log is in force (net.R7).
/// </summary>
internal readonly record struct LogMark(uint Term, ulong Batch)
{
    /// <summary>False if nothing was changed, or there is no log.</summary>
    internal bool IsKnown => Batch != 0;
}
