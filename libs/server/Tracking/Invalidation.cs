using System.Text;
using Garnet.Server.Clients;

namespace Garnet.Server.Tracking;

/// <summary>
/// One message about keys that changed, or about everything (no keys). Encoded for the receiver's protocol version when it
/// arrives: as a push, or for RESP2 as a message on a channel that only a redirected client can receive.
/// </summary>
internal sealed class Invalidation(IReadOnlyCollection<byte[]>? keys)
{
    /// <summary>The message that everything is gone.</summary>
    internal static readonly Invalidation Everything = new(null);

    private byte[]? _push;
    private byte[]? _message;

    /// <summary>Sends it to a client that tracks, or to the one it redirects to. On any reactor's thread.</summary>
    internal static void Send(Worker from, Connection client, TrackingState state, Invalidation what)
    {
        if (state.Redirect is not { } redirect)
        {
            Post(from, client,
                static (owner, receiver, content) => ((Invalidation)content!).Arrive(owner, receiver!, redirected: false), what);
            return;
        }

        if (!redirect.Closed)
        {
            Post(from, redirect,
                static (owner, receiver, content) => ((Invalidation)content!).Arrive(owner, receiver!, redirected: true), what);
            return;
        }

        state.Broken = true;
        Post(from, client, static (owner, receiver, content) => SayBroken(owner, receiver!, (TrackingState)content!), state);
    }

    private static void Post(Worker from, Connection receiver, Action<Worker, Connection?, object?> action, object content)
    {
        if (receiver.Worker == from)
            action(from, receiver, content);
        else
            receiver.Worker.Post(action, receiver, content);
    }

    private static void SayBroken(Worker owner, Connection client, TrackingState state)
    {
        if (client.Resp3)
            owner.Push(client, Encoding.ASCII.GetBytes($">2\r\n$21\r\ntracking-redir-broken\r\n:{state.RedirectId}\r\n"));
    }

    private void Arrive(Worker owner, Connection receiver, bool redirected)
    {
        if (receiver.Resp3)
            owner.Push(receiver, _push ??= Encode(">2\r\n$10\r\ninvalidate\r\n"u8, "_\r\n"u8));
        else if (redirected && receiver.Subscriptions is { Count: > 0 })
            owner.Push(receiver, _message ??= Encode("*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n"u8, "$-1\r\n"u8));
    }

    private byte[] Encode(ReadOnlySpan<byte> head, ReadOnlySpan<byte> nothing)
    {
        var bytes = new MemoryStream();
        bytes.Write(head);
        if (keys is null)
        {
            bytes.Write(nothing);
            return bytes.ToArray();
        }

        bytes.Write(Encoding.ASCII.GetBytes($"*{keys.Count}\r\n"));
        foreach (byte[] key in keys)
        {
            bytes.Write(Encoding.ASCII.GetBytes($"${key.Length}\r\n"));
            bytes.Write(key);
            bytes.Write("\r\n"u8);
        }

        return bytes.ToArray();
    }
}
