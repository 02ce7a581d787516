using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>
/// A read that waits for one of its streams to have more. Unlike what waits for lists it takes nothing from the others, and one that
/// reads for a group is also answered, with an error, once stream or group is gone; one that claims looks again when something may be due.
/// </summary>
internal sealed unsafe class StreamWait : KeyWait
{
    private const long LookMsMin = 100, LookMsMax = 60_000;

    private readonly Dictionary<byte[], int> _places = new(ByteString.Comparer); // the first of each key
    // What each key is read behind; null for a group.
    private readonly StreamId[]? _after;
    private readonly byte[] _group = [];
    private readonly byte[] _consumer = [];
    private readonly long _max;
    private readonly bool _noAck;
    private readonly long? _claimMs;
    private long _untilMs;

    private StreamWait(ref Call call, in ReadRequest request, StreamId[]? after)
    {
        for (int i = 0; i < request.Keys && after is not null; i++)
            _places.TryAdd(call[request.FirstKey + i].ToArray(), i);
        _after = after;
        _max = request.Max;
        _noAck = request.NoAck;
        _claimMs = request.ClaimMs;
        if (!request.IsGroup)
            return;
        _group = call[request.GroupAt].ToArray();
        _consumer = call[request.GroupAt + 1].ToArray();
    }

    internal override RecordKind Kind => RecordKind.Stream;

    internal override KeyEvent? Event => null;

    internal override byte[]? Target => null;

    internal override bool EndsWithoutKey => _after is null;

    internal static StreamWait Of(ref Call call, in ReadRequest request, StreamId[]? after) => new(ref call, request, after) { Client = call.Client };

    /// <summary>When to look again: what may be due first, or the end of the wait.</summary>
    internal long Until(long untilMs, long nextMs, long nowMs)
    {
        _untilMs = untilMs;
        if (_claimMs is not { } claimMs)
            return untilMs;
        // Before that nothing is due that is delivered from now on, or not by much; what is claimed by others, they tell.
        long latestMs = nowMs + Math.Clamp(claimMs, LookMsMin, LookMsMax);
        return Math.Min(untilMs, Math.Clamp(nextMs, nowMs + 1, latestMs));
    }

    internal override bool Resume(Worker worker, Connection client)
    {
        if (IsHeld || End != WaitEnd.None || _claimMs is null || _untilMs <= worker.NowMs)
            return base.Resume(worker, client);
        if (DeadlineMs <= worker.NowMs)
            LookAgain(worker, client);
        return false;
    }

    internal override bool IsReady(StoreSession store, in KeyRef key, RecordKind kind)
    {
        if (_after is not null)
        {
            var state = default(StreamStateLook);
            return kind == RecordKind.Stream && store.Examine(in key, ref state, quiet: true) == Outcome.Done && state.Length > 0 && state.LastEntry > AfterOf(key);
        }

        GroupLook look = Look(store, key);
        return !look.Found || look.HasMore;
    }

    internal override void Pop(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to)
    {
        ref readonly KeyRef key = ref keys[0];
        var name = new Arg { Bytes = key.Bytes, Length = key.Length };
        GroupLook look = _after is null ? Look(store, key) : default;
        if (_after is null && !look.Found)
        {
            to.Error(look.WrongKind ? FaultText.Of(Fault.WrongType) : GroupCommands.NoGroupText(key.Span, _group, XReadGroup.Where));
            return;
        }

        if (to.Resp3)
            to.Map(1);
        else
            to.Array(1);
        if (_after is not null)
        {
            var read = new ReadBehindLook { To = to, Name = name, After = AfterOf(key), Max = _max };
            store.Examine(in key, ref read);
            return;
        }

        Deliver(store, key, name, to);
    }

    private void Deliver(StoreSession store, in KeyRef key, in Arg name, RespWriter to)
    {
        long before = to.Mark;
        fixed (byte* group = _group, consumer = _consumer)
        {
            Arg* names = stackalloc Arg[2];
            names[0] = new Arg { Bytes = group, Length = _group.Length };
            names[1] = new Arg { Bytes = consumer, Length = _consumer.Length };
            var read = new GroupRead { Names = new Operands(names, 2), NowMs = store.NowMs, Count = _max, NoAck = _noAck, Claims = DueClaims.Of(_claimMs), To = to, Key = name };
            store.Edit(in key, ref read);
            if (read.Given > 0)
                return;
        }

        to.TakeBackTo(before - 4); // what it began with: there is no memory to note the delivery
        to.Error(FaultText.Of(Fault.OutOfMemory));
    }

    // Who is ready is served in the order of the queue, as if the key had been written.
    private void LookAgain(Worker worker, Connection client)
    {
        long nextMs = long.MaxValue;
        for (WaitPlace? place = Places; place is not null; place = place.Other)
        {
            KeyQueue queue = place.Queue;
            fixed (byte* bytes = queue.Bytes)
            {
                KeyRef key = worker.Store.KeyFromHash(bytes, queue.Key.Length, worker.Store.Namespaces.Id(queue.Database), queue.Hash);
                GroupLook look = Look(worker.Session, key);
                nextMs = Math.Min(nextMs, look.NextMs);
                if (!look.Found || look.HasMore)
                    worker.Post(static (owner, _, ready) => ((Executor)owner).Ready.ServeNow((KeyQueue)ready!), null, queue);
            }
        }

        DeadlineMs = Until(_untilMs, nextMs, worker.NowMs);
        worker.Park(client, this);
    }

    private StreamId AfterOf(in KeyRef key) => _after![_places.GetAlternateLookup<ReadOnlySpan<byte>>()[key.Span]];

    private GroupLook Look(StoreSession store, in KeyRef key)
    {
        fixed (byte* group = _group)
        {
            var name = new Arg { Bytes = group, Length = _group.Length };
            var look = new GroupLook { Name = new Operands(&name, 1), ClaimMs = _claimMs, NowMs = store.NowMs };
            store.Examine(in key, ref look, quiet: true);
            return look;
        }
    }
}
