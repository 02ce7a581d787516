namespace Garnet.Server.Replication;

/// <summary>The thread on which a server that is followed compares data with its replicas (Z9).</summary>
internal sealed partial class Replication
{
    private const int DigestTurnMs = 1000;
    private readonly Signal _digestPause = new();
    private Thread? _digestThread;

    // From the first replica on.
    private void EnsureDigests()
    {
        lock (_gate)
        {
            if (_digestThread is not null || _stopping)
                return;
            _digestThread = new Thread(RunDigests) { IsBackground = true, Name = "replication digests" };
            _digestThread.Start();
        }
    }

    private void RunDigests()
    {
        var round = new DigestRound(_server, _server.Clock, () => Settings.DigestSeconds);
        while (true)
        {
            _digestPause.Wait(DigestTurnMs);
            if (Volatile.Read(ref _stopping))
                return;
            round.Turn();
        }
    }

    private void StopDigests()
    {
        _digestPause.Set();
        _digestThread?.Join();
    }
}
