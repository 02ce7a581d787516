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
    private LogMark _written, _seen; // batches of the log: what the reply acknowledges, and what it shows

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

    internal override bool Resume(Worker worker, Connection client)
    {
        if (End == WaitEnd.Served)
            return TryReply(worker, client);
        if (End == WaitEnd.None && (DeadlineMs > worker.NowMs || !TryEnd(WaitEnd.TimedOut)))
            return false;
        Waits?.Remove(this);
        worker.Out.NullArray();
        return true;
    }

    internal override void Abandon(Connection client)
    {
        TryEnd(WaitEnd.Left);
        if (End != WaitEnd.Served) // else the server does it
            Waits?.Remove(this);
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
