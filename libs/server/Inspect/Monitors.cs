using System.Globalization;
using System.Text;
using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>The clients that watch every command (MONITOR).</summary>
internal sealed class Monitors(Secrets secrets)
{
    private readonly Lock _gate = new();
    private Connection[] _clients = [];

    /// <summary>True if anybody watches.</summary>
    internal bool Any => Volatile.Read(ref _clients).Length > 0;

    internal void Add(Connection client)
    {
        lock (_gate)
        {
            if (!_clients.Contains(client))
                _clients = [.. _clients, client];
        }
    }

    internal void Remove(Connection client)
    {
        lock (_gate)
        {
            if (Array.IndexOf(_clients, client) >= 0)
                _clients = Array.FindAll(_clients, other => other != client);
        }
    }

    /// <summary>Shows the command to all who watch; arguments that may hold secrets are hidden.</summary>
    internal void Feed(Connection from, Arguments arguments, long nowUs)
    {
        byte[] line = Line(from, arguments, nowUs);
        foreach (Connection client in Volatile.Read(ref _clients))
        {
            if (client.Worker == from.Worker)
                from.Worker.Push(client, line);
            else
                client.Worker.Post(static (owner, receiver, content) => owner.Push(receiver!, (byte[])content!), client, line);
        }
    }

    private byte[] Line(Connection from, Arguments arguments, long us)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"+{us / 1_000_000}.{us % 1_000_000:000000} [{from.Database} {Origin(from)}]");
        for (int i = 0; i < arguments.Count; i++)
        {
            text.Append(" \"");
            if (secrets.Hides(arguments, i))
                text.Append("(redacted)");
            else
                Escape(arguments[i], text);
            text.Append('"');
        }

        return Encoding.Latin1.GetBytes(text.Append("\r\n").ToString());
    }

    private static string Origin(Connection client)
    {
        if ((client.Modes & ClientModes.Script) != 0)
            return "lua";
        return client.Peer.IsUnix ? "unix:" + client.Peer.Remote : client.Peer.Remote;
    }

    private static void Escape(ReadOnlySpan<byte> bytes, StringBuilder text)
    {
        foreach (byte b in bytes)
        {
            string? escape = b switch
            {
                (byte)'\\' => "\\\\",
                (byte)'"' => "\\\"",
                (byte)'\n' => "\\n",
                (byte)'\r' => "\\r",
                (byte)'\t' => "\\t",
                (byte)'\a' => "\\a",
                (byte)'\b' => "\\b",
                < 32 or > 126 => $"\\x{b:x2}",
                _ => null,
            };
            if (escape is null)
                text.Append((char)b);
            else
                text.Append(escape);
        }
    }
}
