using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>
/// The threads that run commands: none before the start, the same ones from then on. Who must wake them, tell them something or add up what they
/// have counted asks for these, not for the server.
/// </summary>
internal sealed class WorkerSet
{
    /// <summary>All of them; a walk takes no memory.</summary>
    internal Worker[] All { get; private set; } = [];

    /// <summary>The worker that also does work no connection asked for; null before the start.</summary>
    internal Worker? First => All is [var first, ..] ? first : null;

    /// <summary>The server starts with these.</summary>
    internal void Begin(Worker[] workers) => All = workers;

    /// <summary>The turns of all.</summary>
    internal IEnumerable<Turn> Turns => All.Select(static worker => worker.Turn);

    /// <summary>The one with the fewest connections.</summary>
    internal Worker LeastLoaded()
    {
        Worker best = All[0];
        foreach (Worker worker in All)
        {
            if (worker.ConnectionCount < best.ConnectionCount)
                best = worker;
        }

        return best;
    }

    /// <summary>The script or function that runs now; null if none does. From any thread.</summary>
    internal Running? RunningScript()
    {
        foreach (Worker worker in All)
        {
            if (worker.Script is { } running)
                return running;
        }

        return null;
    }

    /// <summary>True if a script runs, and has for longer than others should wait without a word.</summary>
    internal bool HasBusyScript(ScriptSettings settings, IClock clock) => RunningScript() is { } running && running.IsBusy(settings, clock);

    /// <summary>All clients of all of them, as many as are expected.</summary>
    internal List<Connection> Clients(int expected)
    {
        var clients = new List<Connection>(expected);
        foreach (Worker worker in All)
            worker.CopyClientsTo(clients);
        return clients;
    }

    /// <summary>Wakes the first, if the server has started.</summary>
    internal void NudgeFirst() => First?.Nudge();

    /// <summary>Wakes all.</summary>
    internal void NudgeAll()
    {
        foreach (Worker worker in All)
            worker.Nudge();
    }

    /// <summary>Wakes those that have somebody who waits for the log.</summary>
    internal void NudgeWaiting()
    {
        foreach (Worker worker in All)
        {
            if (worker.AwaitsLog)
                worker.Nudge();
        }
    }
}
