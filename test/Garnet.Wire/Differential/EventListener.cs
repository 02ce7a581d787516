using System.Globalization;
using System.Net;

namespace Garnet.Wire.Differential;

/// <summary>Hears the keyspace events of one server, up to a mark that it publishes itself.</summary>
internal sealed class EventListener : IDisposable
{
    private readonly RespConnection _listener, _speaker;
    private int _turn;

    public EventListener(IPEndPoint server, string classes)
    {
        _listener = new RespConnection(server);
        _speaker = new RespConnection(server);
        _speaker.Call("CONFIG", "SET", "notify-keyspace-events", classes);
        _listener.Call("PSUBSCRIBE", "__key*");
    }

    /// <summary>What was told since the last time, in order: channel and message.</summary>
    public string Heard()
    {
        string mark = (_turn++).ToString(CultureInfo.InvariantCulture);
        _speaker.Call("PUBLISH", "__keymark", mark);
        List<string> messages = [];
        for (RespNode node = _listener.Read(); node.Items![2].Text != "__keymark" || node.Items[3].Text != mark; node = _listener.Read())
            messages.Add(Quoted.Quote(node.Items![2].Text) + " " + Quoted.Quote(node.Items[3].Text));
        return string.Join("\n      ", messages);
    }

    public void Dispose()
    {
        _speaker.Call("CONFIG", "SET", "notify-keyspace-events", "");
        _listener.Dispose();
        _speaker.Dispose();
    }
}
