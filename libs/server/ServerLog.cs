using Microsoft.Extensions.Logging;

namespace Garnet.Server;

/// <summary>What the server says in its log; ids are never reused.</summary>
internal sealed partial class ServerLog(ILogger logger)
{
    [LoggerMessage(1, LogLevel.Information, "Listening on {Address}")]
    private static partial void Listening(ILogger logger, string address);
    internal void Listening(string address) => Listening(logger, address);

    [LoggerMessage(2, LogLevel.Warning, "Client {Id} ({Peer}) sent more than client-query-buffer-limit without completing a command; closed")]
    private static partial void QueryBufferExceeded(ILogger logger, long id, string peer);
    internal void QueryBufferExceeded(long id, string peer) => QueryBufferExceeded(logger, id, peer);

    [LoggerMessage(3, LogLevel.Warning, "{Peer} spoke HTTP to this port: a cross-protocol attack or a wrong address; closed")]
    private static partial void ForeignProtocol(ILogger logger, string peer);
    internal void ForeignProtocol(string peer) => ForeignProtocol(logger, peer);

    [LoggerMessage(4, LogLevel.Warning, "Client {Id} ({Peer}) does not read its replies: {Bytes} bytes waiting, over its class limit; closed")]
    private static partial void SlowReaderClosed(ILogger logger, long id, string peer, long bytes);
    internal void SlowReaderClosed(long id, string peer, long bytes) => SlowReaderClosed(logger, id, peer, bytes);

    [LoggerMessage(5, LogLevel.Warning, "Cannot accept connections (errno {Errno}): {Reason}; trying again every 100 ms")]
    private static partial void AcceptFailed(ILogger logger, int errno, string reason);
    internal void AcceptFailed(int errno, string reason) => AcceptFailed(logger, errno, reason);

    [LoggerMessage(6, LogLevel.Error, "Reactor {Index} failed; the process stops because its connections would hang")]
    private static partial void ReactorFailed(ILogger logger, Exception error, int index);
    internal void ReactorFailed(Exception error, int index) => ReactorFailed(logger, error, index);

    [LoggerMessage(9, LogLevel.Warning, "maxclients {Wanted} cannot be reached: the limit of open files (RLIMIT_NOFILE, ulimit -n) is {Limit}, which leaves room for {Fits} clients; raise the limit or lower maxclients")]
    private static partial void TooFewFiles(ILogger logger, long wanted, long limit, long fits);
    internal void TooFewFiles(long wanted, long limit, long fits) => TooFewFiles(logger, wanted, limit, fits);

    [LoggerMessage(7, LogLevel.Information, "Stopped")]
    private static partial void Stopped(ILogger logger);
    internal void Stopped() => Stopped(logger);

    [LoggerMessage(8, LogLevel.Information, "User asked for a stop (SHUTDOWN)")]
    private static partial void ShutdownAsked(ILogger logger);
    internal void ShutdownAsked() => ShutdownAsked(logger);
}
