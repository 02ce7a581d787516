using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>Asks the memory for what a batch will touch before its first command runs: hints, never wrong.</summary>
internal sealed unsafe class BatchPrefetch(Store store, FrameBatch batch, CommandEntry* entries) : IDisposable
{
    private readonly NativeArray<MemberSpot> _spots = new(FrameBatch.FramesMax);

    /// <inheritdoc/>
    public void Dispose() => _spots.Dispose();

    /// <summary>Asks for what that many frames will touch.</summary>
    internal void Run(int count)
    {
        PrefetchRecords(count);
        if (batch.Members != 0)
            PrefetchMembers(count);
    }

    private void PrefetchRecords(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Frame* frame = batch.Frames + i;
            if (frame->Bucket == 0 || !store.Namespaces.TryId(batch.Clients[i].Database, out uint ns))
                continue;
            ref Arg key = ref batch.Args.Items[frame->FirstArg + entries[frame->Command].FirstKey];
            store.PrefetchRecord(store.KeyFromHash(key.Bytes, key.Length, ns, frame->KeyHash), frame->Bucket);
        }
    }

    private void PrefetchMembers(int count)
    {
        int spots = 0;
        for (int i = 0; i < count; i++)
        {
            Frame* frame = batch.Frames + i;
            int member = entries[frame->Command].Member;
            if (member == 0 || member >= frame->ArgCount || frame->Bucket == 0
                || !store.Namespaces.TryId(batch.Clients[i].Database, out uint ns))
                continue;
            Arg* args = batch.Args.Items + frame->FirstArg;
            Arg key = args[entries[frame->Command].FirstKey];
            if (MemberSpot.TryBegin(store, store.KeyFromHash(key.Bytes, key.Length, ns, frame->KeyHash), frame->Bucket, args[member],
                out _spots.Items[spots]))
                spots++;
        }

        for (int i = 0; i < spots; i++)
            _spots.Items[i].AskChunk(store);
        for (int i = 0; i < spots; i++)
            _spots.Items[i].AskSlots(store);
        for (int i = 0; i < spots; i++)
            _spots.Items[i].AskEntry();
    }
}
