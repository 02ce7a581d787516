using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Tls;

namespace Garnet.Server.Replication.Export;

/// <summary>The exports that are under way, a thread each. They take turns: one snapshot of the store at a time.</summary>
/// <param name="place">Where this server stands, as PSYNC is told it.</param>
internal sealed class RdbExports(ServerCore server, StoreCuts cuts, LinkTraffic traffic, Func<string> place) : IDisposable
{
    private const int ExportsMax = 8; // more at once are no backup but a mistake

    private readonly Lock _gate = new();
    private readonly Dictionary<RdbExport, Thread> _running = [];
    private bool _closed;

    /// <summary>Raised when all of them are to end: the store is about to become another one.</summary>
    internal event Action? Interrupting;

    /// <summary>True while another one may begin.</summary>
    internal bool HasRoom
    {
        get
        {
            lock (_gate)
                return !_closed && _running.Count < ExportsMax;
        }
    }

    /// <summary>Serves whoever is behind the socket.</summary>
    internal void Begin(FreedSocket socket, SyncTerms terms, string address, bool tellsPlace)
    {
        var link = new LinkSocket(socket, server.Settings.Replication.TimeoutSeconds * 1000, traffic);
        var export = new RdbExport(server.Settings, server.Clock, server.Log, cuts, link,
            new ExportRequest(terms, address, tellsPlace ? place : null));
        Thread thread = BackgroundThread.Of("export", () => Run(export), server.Fail);
        lock (_gate)
        {
            if (_closed)
            {
                link.Dispose();
                return;
            }

            _running.Add(export, thread);
        }

        server.Log.ExportBegins(address);
        thread.Start();
    }

    /// <summary>Ends those whose user was removed; without waiting.</summary>
    internal void EndLost()
    {
        RdbExport[] lost;
        lock (_gate)
            lost = [.. _running.Keys.Where(static export => export.HasLostUser)];
        foreach (RdbExport export in lost)
            export.Stop();
    }

    /// <summary>Ends all of them and waits for that; others may begin.</summary>
    internal void Interrupt()
    {
        Interrupting?.Invoke();
        KeyValuePair<RdbExport, Thread>[] running;
        lock (_gate)
            running = [.. _running];
        foreach ((RdbExport export, _) in running)
            export.Stop();
        foreach ((_, Thread thread) in running)
            thread.Join();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
            _closed = true;
        Interrupt();
    }

    private void Run(RdbExport export)
    {
        export.Run();
        lock (_gate)
            _running.Remove(export);
    }
}
