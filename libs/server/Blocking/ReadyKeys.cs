using Garnet.Server.Commands;
using Garnet.Server.Net;
using Tsavorite;

namespace Garnet.Server.Blocking;

/// <summary>
/// The keys that a reactor's commands have written and for which somebody waits. They are served after each command: everybody
/// who can be is, in the order of the queues (B2), whichever reactor it belongs to.
/// </summary>
internal sealed unsafe class ReadyKeys(Reactor reactor) : IDisposable
{
    private readonly List<KeyQueue> _ready = [];
    private readonly List<Connection> _served = [];
    private readonly ReplyBuffer _reply = new();

    /// <summary>Keys to serve.</summary>
    internal int Count;

    /// <summary>True if clients of this reactor have a reply to be given.</summary>
    internal bool HasServed => _served.Count > 0;

    /// <summary>Notes a key that has been written.</summary>
    internal void Add(KeyQueue queue)
    {
        _ready.Add(queue);
        Count++;
    }

    /// <summary>Notes the keys of two databases that change places.</summary>
    internal void AddAll(int first, int second)
    {
        reactor.Server.Waits.CopyQueues(first, second, _ready);
        Count = _ready.Count;
    }

    /// <summary>Parks the command until one of its keys holds something, or serves it at once (B1).</summary>
    internal Reply Wait(ref Call call, KeyWait wait, int firstKey, int keys, long untilMs)
    {
        WaitTable waits = reactor.Server.Waits;
        wait.DeadlineMs = untilMs;
        waits.Begin();
        for (int i = 0; i < keys; i++)
            waits.Join(wait, call[firstKey + i], call.HashAt(firstKey + i));
        reactor.Park(call.Client, wait);
        for (int i = 0; i < keys && wait.End == WaitEnd.None; i++)
        {
            if (waits.Queue(call.Client.Database, call[firstKey + i], call.HashAt(firstKey + i)) is { } queue)
                Serve(queue);
        }

        return Reply.Parked;
    }

    /// <summary>Serves what has been noted; what serving writes is served too.</summary>
    internal void Serve()
    {
        for (int i = 0; i < _ready.Count; i++)
            Serve(_ready[i]);
        _ready.Clear();
        Count = 0;
    }

    /// <summary>Serves a key that no command of this reactor has written.</summary>
    internal void ServeNow(KeyQueue queue)
    {
        reactor.Server.ScriptGate.TryEnter(reactor, patiently: true);
        Add(queue);
        Serve();
        reactor.Server.ScriptGate.Leave(reactor);
    }

    /// <summary>Gives those of this reactor's clients who were served their replies.</summary>
    internal void Deliver()
    {
        foreach (Connection client in _served)
            reactor.TryResume(client);
        _served.Clear();
    }

    /// <inheritdoc/>
    public void Dispose() => _reply.Dispose();

    private void Serve(KeyQueue queue)
    {
        WaitTable waits = reactor.Server.Waits;
        KeyWait? next = waits.First(queue);
        while (next is not null)
            next = ServeOne(queue, next);
    }

    // Serves the first who waits for what is there, with the locks that the expected one needs; returns whom to expect next.
    private KeyWait? ServeOne(KeyQueue queue, KeyWait expected)
    {
        Server server = reactor.Server;
        uint ns = server.Store.Namespaces.Id(queue.Database);
        byte[]? target = expected.Target;
        fixed (byte* bytes = queue.Bytes, other = target)
        {
            KeyRef key = server.Store.KeyFromHash(bytes, queue.Key.Length, ns, queue.Hash);
            Span<KeyRef> keys = target is null ? [key] : [key, server.Store.Key(other, target.Length - SlackBytes, ns)];
            reactor.Session.Lock(keys);
            KeyWait? first = FirstFor(queue, in key);
            bool takes = first == expected && expected.TryEnd(WaitEnd.Served);
            if (takes)
                expected.Pop(server, reactor.Session, keys, _reply.Begin(expected.Client.Resp3));
            reactor.Session.Unlock();
            if (takes)
                HandOver(expected);
            return takes ? server.Waits.First(queue) : first;
        }
    }

    private KeyWait? FirstFor(KeyQueue queue, in KeyRef key)
    {
        var look = default(Types.Collections.CountLook);
        reactor.Session.Examine(in key, ref look, quiet: true);
        return reactor.Server.Waits.FirstReady(queue, reactor.Session, in key, look.Kind);
    }

    private void HandOver(KeyWait wait)
    {
        reactor.Server.Waits.Remove(wait);
        wait.Answer(_reply.Take(), reactor.Held.Mark(reactor.Held.TakeBatch()), reactor.Held.Mark(reactor.Held.TakeSeen()));
        if (reactor.Notes.Count > 0 && reactor.Server.Changes.PerCommand)
            reactor.Server.Changes.HandOnServed(reactor, wait.Event);
        Connection client = wait.Client;
        if (client.Reactor == reactor)
            _served.Add(client);
        else
            client.Reactor.Post(static (owner, served, _) => owner.TryResume(served!), client);
    }

    /// <summary>Bytes behind a target's name that hashing may read.</summary>
    internal const int SlackBytes = 16;
}
