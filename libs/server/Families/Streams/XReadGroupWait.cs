using Garnet.Common.Resp;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>
/// XREADGROUP that waits for one of its streams to have more for the group. It is also answered, with an error, once stream or group is gone; one
/// that claims looks again when something may be due.
/// </summary>
internal sealed unsafe class XReadGroupWait : KeyWait
{
    private const long LookMsMin = 100, LookMsMax = 60_000;

    private readonly byte[] _group;
    private readonly byte[] _consumer;
    private readonly long _max;
    private readonly bool _noAck;
    private readonly long? _claimMs;
    private long _untilMs;

    internal XReadGroupWait(ref Call call, in ReadRequest request)
    {
        _group = call[request.GroupAt].ToArray();
        _consumer = call[request.GroupAt + 1].ToArray();
        _max = request.Max;
        _noAck = request.NoAck;
        _claimMs = request.ClaimMs;
    }

    internal override RecordKind Kind => RecordKind.Stream;

    internal override KeyEvent? Event => null;

    internal override byte[]? Target => null;

    internal override bool EndsWithoutKey => true;

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
        GroupLook look = Look(store, key);
        return !look.Found || look.HasMore;
    }

    internal override void Pop(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to)
    {
        ref readonly KeyRef key = ref keys[0];
        GroupLook look = Look(store, key);
        if (!look.Found)
        {
            to.Error(look.WrongKind ? FaultText.Of(Fault.WrongType) : GroupCommands.NoGroupText(key.Span, _group, XReadGroup.Where));
            return;
        }

        XReadWait.BeginOne(to);
        Deliver(store, key, to);
    }

    private void Deliver(StoreSession store, in KeyRef key, RespWriter to)
    {
        long before = to.Mark;
        fixed (byte* group = _group, consumer = _consumer)
        {
            Arg* names = stackalloc Arg[2];
            names[0] = new Arg { Bytes = group, Length = _group.Length };
            names[1] = new Arg { Bytes = consumer, Length = _consumer.Length };
            var read = new GroupRead
            {
                Names = new Operands(names, 2), NowMs = store.NowMs, Count = _max, NoAck = _noAck, Claims = DueClaims.Of(_claimMs), To = to,
                Key = new Arg { Bytes = key.Bytes, Length = key.Length },
            };
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
        var ready = ReadyKeys.Of(worker);
        long nextMs = worker.NowMs; // soon, where they are not to be looked at now
        if (ready.TryBeginLook())
        {
            try
            {
                nextMs = LookAtAll(worker);
            }
            finally
            {
                ready.EndLook();
            }
        }

        DeadlineMs = Until(_untilMs, nextMs, worker.NowMs);
        worker.Park(client, this);
    }

    // When to look again at what is not due now.
    private long LookAtAll(Worker worker)
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
                    ReadyKeys.ServeOn(worker, queue);
            }
        }

        return nextMs;
    }

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
