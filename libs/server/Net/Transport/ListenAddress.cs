using System.Net;

namespace Garnet.Server.Net;

/// <summary>
/// An address to listen on, as a setting has it. What the defaults name is known without <see cref="IPAddress"/>, whose code a start would wait for.
/// </summary>
/// <param name="Text">As it was written, without the dash for one that may be missing.</param>
/// <param name="Bytes">Its 4 or 16 bytes, as they go over a network.</param>
/// <param name="Scope">The interface of a link-local address, by its number; 0: none.</param>
internal sealed record ListenAddress(string Text, byte[] Bytes, uint Scope = 0)
{
    private const int V4Bytes = 4, V6Bytes = 16;

    /// <summary>True for an address of IPv6.</summary>
    internal bool IsV6 => Bytes.Length == V6Bytes;

    /// <summary>Reads one; null for what is no address.</summary>
    internal static ListenAddress? TryRead(string text) => text switch
    {
        "*" => new ListenAddress(text, new byte[V4Bytes]),
        "::*" => new ListenAddress(text, new byte[V6Bytes]),
        "127.0.0.1" => new ListenAddress(text, [127, 0, 0, 1]),
        "::1" => new ListenAddress(text, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        _ => TryParse(text),
    };

    /// <summary>The same for the framework's sockets.</summary>
    internal IPAddress ToAddress() => IsV6 ? new IPAddress(Bytes, Scope) : new IPAddress(Bytes);

    /// <inheritdoc/>
    public override string ToString() => ToAddress().ToString();

    private static ListenAddress? TryParse(string text)
    {
        if (!IPAddress.TryParse(text, out IPAddress? parsed))
            return null;
        byte[] bytes = parsed.GetAddressBytes();
        return new ListenAddress(text, bytes, bytes.Length == V6Bytes ? (uint)parsed.ScopeId : 0);
    }
}
