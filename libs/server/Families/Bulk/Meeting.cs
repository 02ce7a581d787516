using Garnet.Server.Bulk;
using Garnet.Server.Clients;

namespace Garnet.Server.Families.Bulk;

/// <summary>
/// BULK.HELLO meets the client's endpoint, which may not answer: on a thread of its own. The command runs again when that is over.
/// </summary>
internal sealed class Meeting(BulkSessions sessions, string carrier, byte[] address, string host) : Parking
{
    private const int Running = 0, Over = 1, GivenUp = 2;

    private BulkSession? _session;
    private int _state;

    internal string Carrier => carrier;

    internal bool IsOver => Volatile.Read(ref _state) == Over;

    /// <summary>Why there is no session.</summary>
    internal string Why { get; private set; } = "";

    /// <summary>The session, if there is one: the taker's from now on.</summary>
    internal BulkSession? Take() => Interlocked.Exchange(ref _session, null);

    internal Reply Begin(Worker worker, Connection client)
    {
        client.Begun = this;
        worker.Park(client, this);
        _ = OwnThread.Run(() => Meet(worker, client));
        return Reply.Postponed;
    }

    internal override bool Resume(Worker worker, Connection client) => IsOver;

    internal override void Abandon(Connection client)
    {
        if (Interlocked.Exchange(ref _state, GivenUp) == Over)
            Take()?.Close("its connection has gone");
    }

    private bool Meet(Worker worker, Connection client)
    {
        _session = sessions.TryOpenReaching(carrier, address, host, out string why);
        Why = why;
        if (Interlocked.CompareExchange(ref _state, Over, Running) == Running)
            worker.Post(static (owner, resumed, _) => owner.TryResume(resumed!), client);
        else
            Take()?.Close("its connection has gone");
        return true;
    }
}
