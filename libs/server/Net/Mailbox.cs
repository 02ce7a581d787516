using Garnet.Server.Clients;

namespace Garnet.Server.Net;

/// <summary>
/// Messages from other threads to a reactor. Posting wakes the reactor only when the box was empty. Emptied at every
/// round; its length is bounded by what the other reactors produce in one round, since each delivery then counts
/// against the receiving client's output limit.
/// </summary>
internal sealed class Mailbox(ITransport transport)
{
    private readonly Lock _gate = new();
    private List<Message> _incoming = [];
    private List<Message> _taken = [];

    /// <summary>A message: what to do and with whom. A class: lists of references are compiled ahead (start-up).</summary>
    internal sealed record Message(Action<Worker, Connection?, object?> Do, Connection? Client, object? Content);

    /// <summary>Adds a message.</summary>
    internal void Post(Action<Worker, Connection?, object?> action, Connection? client, object? content)
    {
        bool first;
        lock (_gate)
        {
            first = _incoming.Count == 0;
            _incoming.Add(new Message(action, client, content));
        }

        if (first)
            transport.Wake();
    }

    /// <summary>Runs all messages on the reactor's thread.</summary>
    internal void Drain(Worker worker)
    {
        if (_incoming.Count == 0) // a stale answer only delays to the next round: the poster wakes the reactor
            return;
        lock (_gate)
            (_incoming, _taken) = (_taken, _incoming);
        foreach (Message message in _taken)
            message.Do(worker, message.Client, message.Content);
        _taken.Clear();
    }
}
