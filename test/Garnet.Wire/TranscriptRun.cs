using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Garnet.Wire;

/// <summary>Plays a transcript against one server, on fresh connections and empty databases.</summary>
internal sealed class TranscriptRun : IDisposable
{
    // Only who fails waits a minute: redis-server takes seconds for PFSELFTEST where others use the machine too.
    private const int UntilSeconds = 10, TimeoutMs = 60_000;

    private readonly Transcript _transcript;
    private readonly ServerSide _side;
    private readonly IPEndPoint _server;
    private readonly Sending _sending;
    private readonly Dictionary<string, RespConnection> _connections = [];
    private RespConnection _current;
    private byte[] _last = [];
    private bool _skips;

    public TranscriptRun(Transcript transcript, ServerSide side, IPEndPoint server, Sending sending)
    {
        _transcript = transcript;
        _side = side;
        _server = server;
        _sending = sending;
        _connections["A"] = _current = new RespConnection(server, TimeoutMs);
    }

    /// <summary>Null, or the first difference in words.</summary>
    public string? Play()
    {
        AwaitFarewells();
        _current.Call("FLUSHALL");
        foreach (TranscriptStep step in _transcript.Steps)
        {
            string? difference = TakeSafely(step);
            if (difference is not null) return $"{_transcript.Name}:{step.Line}: {step.Text}\n{difference}";
        }
        RespConnection? talkative = _connections.Values.FirstOrDefault(c => c.HasMore);
        return talkative is null ? null : $"{_transcript.Name}: a reply too many: {talkative.Read()}";
    }

    public void Dispose()
    {
        foreach (RespConnection connection in _connections.Values) connection.Dispose();
    }

    // A server may notice after the next connection that the one before has closed: its subscriptions are not this one's.
    private void AwaitFarewells()
    {
        var watch = Stopwatch.StartNew();
        while (watch.Elapsed.TotalSeconds < UntilSeconds
            && !(_current.Call("PUBSUB", "CHANNELS").ToString() == "[ ]" && _current.Call("PUBSUB", "NUMPAT").ToString() == ":0"))
        {
            // each look is a turn of the server's
        }
    }

    private string? TakeSafely(TranscriptStep step)
    {
        try
        {
            return Take(step);
        }
        catch (IOException e)
        {
            return "  " + e.Message;
        }
        catch (SocketException e)
        {
            return "  " + e.Message;
        }
        catch (InvalidDataException e)
        {
            return "  " + e.Message;
        }
    }

    private string? Take(TranscriptStep step)
    {
        if (step.Kind == StepKind.Both) _skips = false;
        else if (step.Kind == StepKind.Only) _skips = step.Text != (_side == ServerSide.Ours ? "ours" : "redis");
        else if (!_skips) return Act(step);
        return null;
    }

    private string? Act(TranscriptStep step)
    {
        switch (step.Kind)
        {
            case StepKind.Request or StepKind.Raw:
                _last = step.Bytes();
                Send();
                return null;
            case StepKind.Reply:
                RespNode reply = _current.Read();
                return new Expected(step.Text).Matches(reply) ? null : $"  wanted {step.Text}\n  got    {reply}";
            case StepKind.Until:
                return Until(new Expected(step.Text));
            case StepKind.Closed:
                return _current.ReadsEnd() ? null : "  wanted the connection closed";
            case StepKind.Resp3:
                RespNode hello = _current.Call("HELLO", "3");
                return hello.Kind == '%' ? null : $"  HELLO 3 got {hello}";
            default:
                if (!_connections.TryGetValue(step.Text, out RespConnection? connection))
                    _connections[step.Text] = connection = new RespConnection(_server, TimeoutMs);
                _current = connection;
                return null;
        }
    }

    private void Send()
    {
        if (_sending == Sending.Whole) _current.Send(_last);
        else _current.SendSplit(_last);
    }

    // Time and other connections decide when the reply is right, so the request is repeated until it is.
    private string? Until(Expected expected)
    {
        long from = Stopwatch.GetTimestamp();
        RespNode reply = _current.Read();
        while (!expected.Matches(reply))
        {
            if (Stopwatch.GetElapsedTime(from).TotalSeconds > UntilSeconds) return $"  wanted {expected} in time\n  got    {reply}";
            Send();
            reply = _current.Read();
        }
        return null;
    }
}
