using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Blocking;

/// <summary>
/// A command that waits for a key to hold something. Whoever ends the wait first decides how (<see cref="Parking.TryEnd"/>): a
/// server, who then fills in the reply and takes the command out of its queues; or its own reactor.
/// </summary>
internal abstract class KeyWait : Parking
{
    private byte[]? _reply;
    private long _tooLongBytes;
    private volatile Parking? _held; // what a rule has said is to be waited for first
    private bool _looksAtHeld;
    private long _untilMs; // the deadline beside that
    private LogMark _written, _seen; // batches of the log: what the reply acknowledges, and what it shows

    /// <summary>What waits, for those who ask about it.</summary>
    internal KeptCommand? Command { get; set; }

    /// <summary>True while it is passed over (blocking.B5).</summary>
    internal bool IsHeld => _held is not null;

    /// <summary>Who waits.</summary>
    internal required Connection Client { get; init; }

    /// <summary>The table that it has joined; null before.</summary>
    internal WaitTable? Waits { get; set; }

    /// <summary>The command's first place in a queue; the others hang on it.</summary>
    internal WaitPlace? Places { get; set; }

    internal override bool IsBlocking => true;

    internal abstract RecordKind Kind { get; }

    /// <summary>What is told of the key that was taken from.</summary>
    internal abstract KeyEvent? Event { get; }

    /// <summary>Another key that is written with the one waited for, null for none.</summary>
    internal abstract byte[]? Target { get; }

    /// <summary>True if the wait also ends, with an error, once the key is gone.</summary>
    internal virtual bool EndsWithoutKey => false;

    /// <summary>True if the key, which holds such a value (or nothing), has what is waited for; its partition is locked.</summary>
    internal virtual bool IsReady(StoreSession store, in KeyRef key, RecordKind kind) => kind == Kind;

    /// <summary>Takes from the key and writes the reply; see <see cref="IPop.Run"/>.</summary>
    internal abstract void Pop(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to);

    /// <summary>Hands the reply over, or how many bytes it had if that is more than the client may get (net.R9); on the server's thread.</summary>
    internal void Answer(byte[] reply, long tooLongBytes, LogMark written, LogMark seen)
    {
        (_written, _seen, _tooLongBytes) = (written, seen, tooLongBytes);
        Volatile.Write(ref _reply, reply);
    }

    /// <summary>
    /// It is to wait for something else before it can be served (blocking.B5); from any thread. Its own looks after that.
    /// </summary>
    internal void Hold(Parking other)
    {
        if (Interlocked.CompareExchange(ref _held, other, null) is null)
            Client.Worker.Post(static (owner, held, _) => owner.TryResume(held!), Client);
    }

    internal override bool Resume(Worker worker, Connection client)
    {
        if (StaysHeld(worker, client))
            return false;
        if (End == WaitEnd.Served)
            return TryReply(worker, client);
        if (End == WaitEnd.None && (DeadlineMs > worker.NowMs || !TryEnd(WaitEnd.TimedOut)))
            return false;
        _held?.Abandon(client);
        Waits?.Remove(this);
        worker.Out.NullArray();
        return true;
    }

    internal override void Abandon(Connection client)
    {
        TryEnd(WaitEnd.Left);
        _held?.Abandon(client);
        if (End != WaitEnd.Served) // else the server does it
            Waits?.Remove(this);
    }

    /// <summary>Looks at what it is held for, on its own reactor; true if there is nothing else to be done now.</summary>
    private protected bool StaysHeld(Worker worker, Connection client)
    {
        if (_held is not { } held || End != WaitEnd.None)
            return false;
        if (!_looksAtHeld)
            (_looksAtHeld, _untilMs) = (true, DeadlineMs);
        bool isFree = held.Resume(worker, client);
        DeadlineMs = isFree ? _untilMs : Math.Min(_untilMs, held.DeadlineMs);
        if (!isFree && _untilMs <= worker.NowMs)
            return false;
        worker.Park(client, this);
        if (!isFree)
            return true;
        (_looksAtHeld, _held) = (false, null);
        for (WaitPlace? place = Places; place is not null; place = place.Other)
            ReadyKeys.ServeOn(worker, place.Queue);
        return true;
    }

    private bool TryReply(Worker worker, Connection client)
    {
        if (Volatile.Read(ref _reply) is not { } reply)
            return false;
        if (_written.IsKnown)
            client.HeldFor = client.LastWrite = _written;
        if (_seen.Batch > client.HeldFor.Batch)
            client.HeldFor = _seen;
        if (_tooLongBytes > 0)
            worker.RefuseLongReply(client, _tooLongBytes);
        else
            worker.Out.Raw(reply);
        return true;
    }
}

/// <summary>A command that waits to take something out of a key.</summary>
internal sealed class KeyWait<T>(T pop) : KeyWait where T : struct, IPop
{
    internal override RecordKind Kind => pop.Kind;

    internal override KeyEvent? Event => pop.Event;

    internal override byte[]? Target => pop.Target;

    internal override void Pop(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to) => pop.Run(store, keys, to);
}
