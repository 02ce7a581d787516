using System.Runtime.CompilerServices;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;

namespace Garnet.Server.Net;

/// <summary>Shows a few of the commands that a reactor is about to run to its <see cref="KeySampler"/>.</summary>
internal sealed unsafe class BatchSampling(Monitoring monitoring, Worker worker, FrameBatch batch)
{
    private readonly KeySampler _sampler = monitoring.RecentKeys.For(worker);

    /// <summary>So many commands of the batch are about to run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // once a batch
    internal void Run(int count)
    {
        if (_sampler.IsDue(count))
            Look(count);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Look(int count)
    {
        for (int i = _sampler.Next(count); i >= 0; i = _sampler.Next(count))
        {
            Frame* frame = batch.Frames + i;
            int key = batch.Entries[frame->Command].FirstKey;
            if (key != 0 && key < frame->ArgCount && (batch.Clients[i].Modes & ClientModes.Unauthenticated) == 0)
                _sampler.Add(frame->KeyHash, batch.Args.Items[frame->FirstArg + key].Span);
        }
    }
}
