using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>XREAD that waits for one of its streams to have more. Unlike what waits for lists it takes nothing from the others.</summary>
internal sealed class XReadWait : KeyWait
{
    // What each key is read behind, as it was named first.
    private readonly Dictionary<byte[], StreamId> _after = new(ByteString.Comparer);
    private readonly long _max;

    internal XReadWait(ref Call call, in ReadRequest request, StreamId[] after)
    {
        _max = request.Max;
        for (int i = 0; i < request.Keys; i++)
            _after.TryAdd(call[request.FirstKey + i].ToArray(), after[i]);
    }

    internal override RecordKind Kind => RecordKind.Stream;

    internal override KeyEvent? Event => null;

    internal override byte[]? Target => null;

    internal override bool IsReady(StoreSession store, in KeyRef key, RecordKind kind)
    {
        var state = default(StreamStateLook);
        return kind == RecordKind.Stream && store.Examine(in key, ref state, quiet: true) == Outcome.Done
            && state.Length > 0 && state.LastEntry > AfterOf(key);
    }

    internal override unsafe void Pop(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to)
    {
        ref readonly KeyRef key = ref keys[0];
        BeginOne(to);
        var name = new Arg { Bytes = key.Bytes, Length = key.Length };
        var read = new ReadBehindLook { To = to, Name = name, After = AfterOf(key), Max = _max };
        store.Examine(in key, ref read);
    }

    /// <summary>A reply of one stream.</summary>
    internal static void BeginOne(RespWriter to)
    {
        if (to.Resp3)
            to.Map(1);
        else
            to.Array(1);
    }

    private StreamId AfterOf(in KeyRef key) => _after.GetAlternateLookup<ReadOnlySpan<byte>>()[key.Span];
}
