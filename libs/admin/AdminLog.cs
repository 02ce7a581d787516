using System.Net;
using Microsoft.Extensions.Logging;

namespace Garnet.Admin;

/// <summary>What the listener for operators says in the log.</summary>
internal static class AdminLog
{
    internal static void Listening(ILogger log, EndPoint at) =>
        Write(log, LogLevel.Information, 130, $"Metrics, health and a page for operators at http://{at}/");

    internal static void ReachesNetwork(ILogger log) => Write(log, LogLevel.Warning, 131,
        "admin-port can be reached from other machines: metrics and health are for everybody there, and passwords of those who log in come "
            + "unencrypted. Bind it to an address of a network of your own, or put a proxy with TLS in front of it");

    internal static void AcceptFailed(ILogger log, string why) =>
        Write(log, LogLevel.Warning, 132, $"admin-port cannot accept connections: {why}; trying again every 100 ms");

    private static void Write(ILogger log, LogLevel level, int id, string text) =>
        log.Log(level, new EventId(id), text, null, static (state, _) => state);
}
