using System.Diagnostics.CodeAnalysis;
using Garnet.Common;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>
/// The thread on which all data are read, from the first replica or the first question on: to compare with replicas (replication.Z9), and for
/// those who ask for a digest, one after the other.
/// </summary>
internal sealed class DigestThread(Action<GarnetException> fail, DigestRound round)
{
    private const int TurnMs = 1000;
    private readonly Lock _gate = new();
    private readonly Signal _pause = new();
    private readonly Queue<IDigestReader> _asked = new();
    private Thread? _thread;
    private bool _stops;

    /// <summary>Begins, if that has not happened.</summary>
    internal void Ensure()
    {
        lock (_gate)
        {
            if (_thread is not null || _stops)
                return;
            _thread = BackgroundThread.Begin("replication digests", Run, fail);
        }
    }

    /// <summary>The wait will be told.</summary>
    internal void Ask(IDigestReader wait)
    {
        lock (_gate)
            _asked.Enqueue(wait);
        Ensure();
        _pause.Set();
    }

    /// <summary>Ends the thread; what it reads is given up.</summary>
    internal void Stop()
    {
        lock (_gate)
            _stops = true;
        _pause.Set();
        _thread?.Join();
    }

    private void Run()
    {
        while (true)
        {
            _pause.Wait(TurnMs);
            while (TryTake(out IDigestReader? wait))
                wait.Read(() => !Volatile.Read(ref _stops));
            if (Volatile.Read(ref _stops))
                return;
            round.Turn();
        }
    }

    private bool TryTake([NotNullWhen(true)] out IDigestReader? wait)
    {
        lock (_gate)
            return _asked.TryDequeue(out wait);
    }
}
