using System.Text;
using Garnet.Common;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Scripting;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Blocking;

/// <summary>
/// The keys that a reactor's commands have written and for which somebody waits. They are served after each command: everybody
/// who can be is, in the order of the queues (blocking.B2), whichever reactor it belongs to.
/// </summary>
internal sealed unsafe class ReadyKeys(Worker worker, WaitTable waits, ScriptTurns gate, IServedKeys served, IServeRule rule) : IDisposable
{
    private readonly List<KeyQueue> _ready = [];
    private readonly List<KeyQueue> _later = []; // of keys that others have written, and that could not be looked at then
    private readonly List<Connection> _served = [];
    private readonly ReplyBuffer _reply = new();

    /// <summary>Keys to serve.</summary>
    internal int Count;

    /// <summary>True if clients of this reactor have a reply to be given.</summary>
    internal bool HasServed => _served.Count > 0;

    /// <summary>True if <see cref="ServeLater"/> has something to do.</summary>
    internal bool HasLater => _later.Count > 0;

    /// <summary>True while somebody is served whose wait is over: what that comes to cannot be put off any more.</summary>
    internal bool IsServing { get; private set; }

    /// <summary>Notes a key that has been written.</summary>
    internal void Add(KeyQueue queue)
    {
        _ready.Add(queue);
        Count++;
    }

    /// <summary>Notes the keys of two databases that change places.</summary>
    internal void AddAll(int first, int second)
    {
        waits.CopyQueues(first, second, _ready);
        Count = _ready.Count;
    }

    /// <summary>
    /// Parks the command until one of its keys holds something, or serves it at once (blocking.B1). A target stands behind its source, the last of
    /// the keys.
    /// </summary>
    internal Reply Wait(Connection client, KeyWait wait, scoped ReadOnlySpan<KeyRef> keys, long untilMs)
    {
        wait.DeadlineMs = untilMs;
        waits.Begin();
        bool isIn = false;
        try
        {
            while (!TryBegin(client, wait, keys, out KeyQueue? ahead))
                ServeAhead(ahead!, wait);
            isIn = true;
        }
        finally
        {
            if (!isIn)
                Withdraw(wait);
        }

        worker.Park(client, wait);
        return Reply.Parked;
    }

    /// <summary>Serves what has been noted, behind a command that has run and is put off no more; what serving writes is served too.</summary>
    internal void Serve()
    {
        IsServing = true;
        try
        {
            for (int i = 0; i < _ready.Count; i++)
                Serve(_ready[i]);
        }
        finally
        {
            IsServing = false;
        }

        _ready.Clear();
        Count = 0;
    }

    /// <summary>
    /// Serves the keys that no command of this reactor has written, or none as long as they are not to be looked at (<see cref="TryBeginLook"/>): then once more, later.
    /// </summary>
    internal void ServeLater()
    {
        if (!HasLater || !TryBeginLook())
            return;
        try
        {
            foreach (KeyQueue queue in _later) Add(queue);
            _later.Clear();
            Serve();
        }
        finally
        {
            EndLook();
        }
    }

    /// <summary>
    /// True if the reactor, which runs no batch, may look at keys; <see cref="EndLook"/> follows. Not while a full copy comes in (blocking.B7), nor while a script runs for too long, which may hold
    /// their locks (scripting.G3).
    /// </summary>
    internal bool TryBeginLook() => rule.MayLook(worker) && gate.TryEnter(worker);

    /// <inheritdoc cref="TryBeginLook"/>
    internal void EndLook() => gate.Leave(worker);

    /// <summary>Those of the worker whose thread this is.</summary>
    internal static ReadyKeys Of(Worker worker) => ((IReadyWorker)worker).Ready;

    /// <summary>Has a worker serve a key that no command of its own has written. From any thread.</summary>
    internal static void ServeOn(Worker worker, KeyQueue queue) =>
        worker.Post(static (owner, _, ready) => Of(owner).ServeNow((KeyQueue)ready!), null, queue);

    /// <summary>Gives those of this reactor's clients who were served their replies.</summary>
    internal void Deliver()
    {
        foreach (Connection client in _served)
            worker.TryResume(client);
        _served.Clear();
    }

    /// <inheritdoc/>
    public void Dispose() => _reply.Dispose();

    private void ServeNow(KeyQueue queue)
    {
        if (!_later.Contains(queue))
            _later.Add(queue);
        ServeLater();
    }

    private void Serve(KeyQueue queue)
    {
        KeyWait? next = waits.First(queue);
        while (next is not null)
            next = ServeOne(queue, next);
    }

    // The command ends in an error, or is put off until its keys can be looked at: nobody serves it. The locks under which it has joined are held still.
    private void Withdraw(KeyWait wait)
    {
        if (wait.TryEnd(WaitEnd.Left))
            waits.Remove(wait);
    }

    // False if others have waited longer for the first key that holds something (blocking.B1): they are served first (ahead), then the command is
    // tried again.
    private bool TryBegin(Connection client, KeyWait wait, scoped ReadOnlySpan<KeyRef> locked, out KeyQueue? ahead)
    {
        int keys = wait.Target is null ? locked.Length : locked.Length - 1;
        bool takes = false;
        ahead = null;
        worker.Session.Lock(locked);
        if (wait.Places is null)
            Join(wait, locked[..keys]);
        int ready = wait.End == WaitEnd.None ? FirstReady(wait, locked[..keys]) : -1;
        if (ready >= 0)
        {
            KeyQueue queue = waits.Queue(client.Database, locked[ready].Span, HashOf(in locked[ready]))!;
            LookAtTarget(wait, in locked[^1]);
            takes = FirstFor(queue, in locked[ready]) == wait && wait.TryEnd(WaitEnd.Served);
            if (takes)
                Pop(wait, wait.Target is null ? locked[ready..] : locked);
            else if (wait.End == WaitEnd.None)
                ahead = queue;
        }

        worker.Session.Unlock();
        if (takes)
            HandOver(wait);
        return ahead is null;
    }

    private void Join(KeyWait wait, scoped ReadOnlySpan<KeyRef> keys)
    {
        foreach (ref readonly KeyRef key in keys)
            waits.Join(wait, key.Span, HashOf(in key));
    }

    private ulong HashOf(in KeyRef key) => worker.Store.HashBytes(key.Bytes, key.Length);

    // The first of the keys, which are locked, that holds what is waited for; -1 for none.
    private int FirstReady(KeyWait wait, scoped ReadOnlySpan<KeyRef> keys)
    {
        for (int i = 0; i < keys.Length; i++)
        {
            var look = default(CountLook);
            worker.Session.Examine(in keys[i], ref look, quiet: true);
            if (wait.IsReady(worker.Session, in keys[i], look.Kind))
                return i;
        }

        return -1;
    }

    // Those who came before it.
    private void ServeAhead(KeyQueue queue, KeyWait wait)
    {
        KeyWait? next = waits.First(queue);
        while (next is not null && next != wait)
            next = ServeOne(queue, next);
    }

    // Serves the first who waits for what is there, with the locks that the expected one needs; returns whom to expect next.
    private KeyWait? ServeOne(KeyQueue queue, KeyWait expected)
    {
        byte[]? target = expected.Target;
        fixed (byte* bytes = queue.Bytes, other = target)
        {
            uint ns = worker.Store.Namespaces.Id(queue.Database); // stands for it as long as nobody else has the turn (scripting.G4)
            KeyRef key = worker.Store.KeyFromHash(bytes, queue.Key.Length, ns, queue.Hash);
            Span<KeyRef> keys = target is null ? [key] : [key, worker.Store.Key(other, target.Length - SlackBytes, ns)];
            int depth = worker.Session.LockDepth;
            try
            {
                if (rule.Asks(worker, expected.Client) && First(queue, in key) == expected && !Admits(expected))
                    return waits.First(queue);
                return ServeOne(queue, expected, keys);
            }
            catch (GarnetException e) when ((worker.Session.Changes & 1) == 0)
            {
                worker.Session.UnlockTo(depth);
                Refuse(expected, e);
                return waits.First(queue);
            }
        }
    }

    private KeyWait? ServeOne(KeyQueue queue, KeyWait expected, scoped ReadOnlySpan<KeyRef> keys)
    {
        worker.Session.Lock(keys);
        LookAtTarget(expected, in keys[^1]);
        KeyWait? first = FirstFor(queue, in keys[0]);
        bool takes = first == expected && expected.TryEnd(WaitEnd.Served);
        if (takes)
            Pop(expected, keys);
        worker.Session.Unlock();
        if (takes)
            HandOver(expected);
        return takes ? waits.First(queue) : first;
    }

    // blocking.B6
    private void Refuse(KeyWait wait, GarnetException unreadable)
    {
        if (!wait.TryEnd(WaitEnd.Served))
            return;
        _reply.Begin(wait.Client.Resp3).Error(Encoding.Latin1.GetBytes(Unmet.TextOf(unreadable)));
        HandOver(wait);
    }

    // What is written besides may lie on the tier: looked at while the command that runs can still be put off for it.
    private void LookAtTarget(KeyWait wait, in KeyRef target)
    {
        var look = default(CountLook);
        if (wait.Target is not null)
            worker.Session.Examine(in target, ref look, quiet: true);
    }

    private KeyWait? First(KeyQueue queue, in KeyRef key)
    {
        worker.Session.Lock([key]);
        KeyWait? first = FirstFor(queue, in key);
        worker.Session.Unlock();
        return first;
    }

    // blocking.B5
    private bool Admits(KeyWait wait)
    {
        if (rule.MayServe(worker, wait, out byte[] refusal, out Parking? other))
            return true;
        if (other is not null)
        {
            wait.Hold(other);
        }
        else if (wait.TryEnd(WaitEnd.Served))
        {
            _reply.Begin(wait.Client.Resp3).Error(refusal);
            HandOver(wait);
        }

        return false;
    }

    // blocking.B6: its wait is over, whatever comes of it.
    private void Pop(KeyWait wait, scoped ReadOnlySpan<KeyRef> keys)
    {
        int depth = worker.Session.LockDepth;
        bool wasServing = IsServing;
        IsServing = true;
        try
        {
            wait.Pop(worker.Session, keys, _reply.Begin(wait.Client.Resp3, worker.ReplyBytesMax(wait.Client)));
        }
        catch (Exception e) when (Unmet.Is(e) && (worker.Session.Changes & 1) == 0)
        {
            worker.Session.UnlockTo(depth);
            _reply.Begin(wait.Client.Resp3).Error(Encoding.Latin1.GetBytes(Unmet.TextOf(e)));
        }
        finally
        {
            IsServing = wasServing;
        }
    }

    private KeyWait? FirstFor(KeyQueue queue, in KeyRef key)
    {
        var look = default(CountLook);
        worker.Session.Examine(in key, ref look, quiet: true);
        return waits.FirstReady(queue, worker.Session, in key, look.Kind);
    }

    private void HandOver(KeyWait wait)
    {
        waits.Remove(wait);
        long tooLongBytes = _reply.TooLongBytes;
        (LogMark written, LogMark seen) = worker.TakeMarks();
        wait.Answer(_reply.Take(), tooLongBytes, written, seen);
        served.OnServed(worker, wait.Event);
        Connection client = wait.Client;
        if (client.Worker == worker)
            _served.Add(client);
        else
            client.Worker.Post(static (owner, receiver, _) => owner.TryResume(receiver!), client);
    }

    /// <summary>Bytes behind a target's name that hashing may read.</summary>
    internal const int SlackBytes = 16;
}
