using System.Globalization;
using System.Net;

namespace Garnet.Wire.Differential;

/// <summary>A subscribing and a publishing connection to one server; what both receive after a command, as text.</summary>
internal sealed class Subscriber : IDisposable
{
    private readonly RespConnection _listener, _publisher;
    private int _turn;

    public Subscriber(IPEndPoint server, int protocol)
    {
        _listener = new RespConnection(server);
        _publisher = new RespConnection(server);
        _listener.Call("HELLO", protocol.ToString(CultureInfo.InvariantCulture));
    }

    public string Run(string[] command)
    {
        bool publishes = command[0].EndsWith("PUBLISH", StringComparison.Ordinal);
        string text = publishes ? _publisher.Call(command) + "\n" : "";
        if (!publishes) _listener.Send(RespConnection.Encode(command));
        // The answer to a PING with a text of its own marks the end of what the command caused.
        string mark = "mark" + (_turn++).ToString(CultureInfo.InvariantCulture);
        _listener.Send(RespConnection.Encode("PING", mark));
        List<string> messages = [];
        for (RespNode node = _listener.Read(); !node.ToString().Contains(mark, StringComparison.Ordinal); node = _listener.Read()) messages.Add(node.ToString());
        // A message that several patterns match comes in the order of the server's own table.
        if (publishes) messages.Sort(StringComparer.Ordinal);
        return text + string.Join('\n', messages);
    }

    public void Dispose()
    {
        _listener.Dispose();
        _publisher.Dispose();
    }
}
