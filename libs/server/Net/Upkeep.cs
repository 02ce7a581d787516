using Garnet.Common.Bytes;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>What a reactor looks at with every tick, though nothing has arrived: clients over a limit, and, on the first reactor, entries whose time has come.</summary>
internal sealed class Upkeep(Executor worker, SlowReaders slowReaders)
{
    private readonly ClientMemory _clientMemory = new(worker);

    internal void Run()
    {
        ServerContext server = worker.Server;
        long now = worker.NowMs;
        if (server.ClientLimits.HasIdleLimit)
            worker.Slots.ForEach(client => server.ClientLimits.IsOverdue(client, now), worker.Close);
        _clientMemory.Bound();
        if (worker.Index == 0 && server.EntryReaper.IsActive && server.ScriptTurns.TryEnter(worker))
        {
            server.EntryReaper.Tick(worker);
            server.ScriptTurns.Leave(worker);
        }

        slowReaders.CloseOverdue();
        if (LargeBlocks.KeptBytes > 0)
            LargeBlocks.FreeIdle(now);
    }
}
