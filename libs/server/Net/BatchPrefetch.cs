using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Types.Collections;

namespace Garnet.Server.Net;

/// <summary>Asks the memory for what a batch will touch before its first command runs: hints, never wrong.</summary>
internal sealed unsafe class BatchPrefetch(Reactor reactor, CommandEntry* entries, int framesMax) : IDisposable
{
    private readonly MemberSpot* _spots = (MemberSpot*)NativeMemory.AllocZeroed((nuint)framesMax, (nuint)sizeof(MemberSpot));
    private int _members;

    /// <inheritdoc/>
    public void Dispose() => NativeMemory.Free(_spots);

    /// <summary>A command was framed that looks up a member with that index, 0 if none.</summary>
    internal void Note(int member) => _members |= member;

    /// <summary>Asks for what that many frames will touch.</summary>
    internal void Run(int count)
    {
        PrefetchRecords(count);
        if (_members != 0)
            PrefetchMembers(count);
        _members = 0;
    }

    private void PrefetchRecords(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Frame* frame = reactor.Frames + i;
            if (frame->Bucket == 0 || !reactor.Store.Namespaces.TryId(reactor.FrameClients[i].Database, out uint ns))
                continue;
            ref Arg key = ref reactor.Args.Items[frame->FirstArg + entries[frame->Command].FirstKey];
            reactor.Store.PrefetchRecord(reactor.Store.KeyFromHash(key.Bytes, key.Length, ns, frame->KeyHash), frame->Bucket);
        }
    }

    private void PrefetchMembers(int count)
    {
        int spots = 0;
        for (int i = 0; i < count; i++)
        {
            Frame* frame = reactor.Frames + i;
            int member = entries[frame->Command].Member;
            if (member == 0 || member >= frame->ArgCount || frame->Bucket == 0 || !reactor.Store.Namespaces.TryId(reactor.FrameClients[i].Database, out uint ns))
                continue;
            Arg* args = reactor.Args.Items + frame->FirstArg;
            Arg key = args[entries[frame->Command].FirstKey];
            if (MemberSpot.TryBegin(reactor.Store, reactor.Store.KeyFromHash(key.Bytes, key.Length, ns, frame->KeyHash), frame->Bucket, args[member], out _spots[spots]))
                spots++;
        }

        for (int i = 0; i < spots; i++)
            _spots[i].AskChunk(reactor.Store);
        for (int i = 0; i < spots; i++)
            _spots[i].AskSlots(reactor.Store);
        for (int i = 0; i < spots; i++)
            _spots[i].AskEntry();
    }
}
