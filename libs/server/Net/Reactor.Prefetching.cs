using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;

namespace Garnet.Server.Net;

/// <summary>Asking the memory for what a batch will touch, before its first command runs.</summary>
internal sealed unsafe partial class Reactor
{
    private readonly MemberSpot* _spots = (MemberSpot*)NativeMemory.AllocZeroed(FramesMax, (nuint)sizeof(MemberSpot));
    private int _members; // not 0: a command of the batch looks something up in a collection

    private void Prefetch(int count)
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
            Frame* frame = _frames + i;
            if (frame->Bucket == 0 || !Store.Namespaces.TryId(_frameClients[i].Database, out uint ns))
                continue;
            ref Arg key = ref _args.Items[frame->FirstArg + _entries[frame->Command].FirstKey];
            Store.PrefetchRecord(Store.KeyFromHash(key.Bytes, key.Length, ns, frame->KeyHash), frame->Bucket);
        }
    }

    private void PrefetchMembers(int count)
    {
        int spots = 0;
        for (int i = 0; i < count; i++)
        {
            Frame* frame = _frames + i;
            int member = _entries[frame->Command].Member;
            if (member == 0 || member >= frame->ArgCount || frame->Bucket == 0 || !Store.Namespaces.TryId(_frameClients[i].Database, out uint ns))
                continue;
            Arg* args = _args.Items + frame->FirstArg;
            Arg key = args[_entries[frame->Command].FirstKey];
            if (MemberSpot.TryBegin(Store, Store.KeyFromHash(key.Bytes, key.Length, ns, frame->KeyHash), frame->Bucket, args[member].Bytes, args[member].Length, out _spots[spots]))
                spots++;
        }

        for (int i = 0; i < spots; i++)
            _spots[i].AskChunk(Store);
        for (int i = 0; i < spots; i++)
            _spots[i].AskSlots(Store);
        for (int i = 0; i < spots; i++)
            _spots[i].AskEntry();
    }
}
