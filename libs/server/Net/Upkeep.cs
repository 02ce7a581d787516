using Garnet.Common.Bytes;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Expiry;
using Garnet.Server.Scripting;

namespace Garnet.Server.Net;

/// <summary>What a reactor looks at with every tick, though nothing has arrived: clients over a limit, and, on the first reactor, entries whose time has come.</summary>
internal sealed class Upkeep(
    Worker worker, ClientLimits limits, EntryReaper reaper, ScriptTurns turns, ClientMemory clientMemory, SlowReaders slowReaders)
{
    internal void Run()
    {
        long now = worker.NowMs;
        if (limits.HasIdleLimit)
            worker.Slots.ForEach(client => limits.IsOverdue(client, now), worker.Close);
        clientMemory.Bound();
        if (worker.Index == 0 && reaper.IsActive && turns.TryEnter(worker))
        {
            reaper.Tick(worker);
            turns.Leave(worker);
        }

        slowReaders.CloseOverdue();
        if (LargeBlocks.KeptBytes > 0)
            LargeBlocks.FreeIdle(now);
    }
}
