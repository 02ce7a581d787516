using System.Net;

namespace Garnet.Server.Net;

/// <summary>Both ends of a connection, kept as text only when somebody asks.</summary>
internal sealed class PeerAddress(IPEndPoint? remote, IPEndPoint? local, string unixPath)
{
    /// <summary>True for a Unix socket.</summary>
    internal bool IsUnix => unixPath.Length > 0;

    /// <summary>True if the peer is on this machine.</summary>
    internal bool IsLoopback => IsUnix || (remote is not null && IPAddress.IsLoopback(remote.Address.IsIPv4MappedToIPv6 ? remote.Address.MapToIPv4() : remote.Address));

    /// <summary>The client's end, as CLIENT LIST prints it.</summary>
    internal string Remote => IsUnix ? unixPath + ":0" : Text(remote);

    /// <summary>The server's end, as CLIENT LIST prints it.</summary>
    internal string Local => IsUnix ? unixPath + ":0" : Text(local);

    private static string Text(IPEndPoint? end)
    {
        if (end is null)
            return "?:0";
        IPAddress address = end.Address.IsIPv4MappedToIPv6 ? end.Address.MapToIPv4() : end.Address;
        return address.AddressFamily == System.Net.Sockets.AddressFamily.InterNetworkV6 ? $"[{address}]:{end.Port}" : $"{address}:{end.Port}";
    }
}
