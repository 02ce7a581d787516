using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using Garnet.Common.Linux;

namespace Garnet.Server.Clients;

/// <summary>
/// Both ends of a connection as the system gave them (the bytes of a sockaddr), turned into text only when somebody asks.
/// </summary>
internal sealed class PeerAddress
{
    /// <summary>Bytes of the longest address taken.</summary>
    internal const int RawBytes = 28;

    private readonly byte[] _remote;
    private readonly byte[] _local;
    private readonly string _unixPath;

    /// <summary>An address of a Unix socket.</summary>
    internal PeerAddress(string unixPath)
    {
        _remote = _local = [];
        _unixPath = unixPath;
    }

    /// <summary>Addresses as Linux lays them out.</summary>
    internal PeerAddress(ReadOnlySpan<byte> remote, ReadOnlySpan<byte> local)
    {
        _remote = remote.ToArray();
        _local = local.ToArray();
        _unixPath = "";
    }

    /// <summary>Addresses from the framework's sockets.</summary>
    internal PeerAddress(IPEndPoint? remote, IPEndPoint? local)
    {
        _remote = Raw(remote);
        _local = Raw(local);
        _unixPath = "";
    }

    /// <summary>True for a Unix socket.</summary>
    internal bool IsUnix => _unixPath.Length > 0;

    /// <summary>True if the peer is on this machine.</summary>
    internal bool IsLoopback
    {
        get
        {
            if (IsUnix)
                return true;
            if (_remote.Length < 16)
                return false;
            if (Family(_remote) == Libc.AF_INET)
                return _remote[4] == 127;
            ReadOnlySpan<byte> v6 = _remote.AsSpan(8, 16);
            return v6[..15].IndexOfAnyExcept((byte)0) < 0
                ? v6[15] == 1
                : v6[..10].IndexOfAnyExcept((byte)0) < 0 && v6[10] == 0xFF && v6[12] == 127;
        }
    }

    /// <summary>
    /// True if an address, as the system lays it out, is one of the host that the connection comes from. Through it the server goes to no other host than
    /// the client itself.
    /// </summary>
    internal bool IsOfRemoteHost(ReadOnlySpan<byte> address)
    {
        if (HostOf(address) is not { } host)
            return false;
        IPAddress remote = IsUnix ? IPAddress.Loopback : HostOf(_remote) ?? IPAddress.None;
        return host.Equals(remote) || (IPAddress.IsLoopback(host) && IPAddress.IsLoopback(remote));
    }

    /// <summary>The server's address without the port, as whoever listens beside the connection binds to it.</summary>
    internal string LocalHost => (IsUnix ? IPAddress.Loopback : HostOf(_local) ?? IPAddress.Loopback).ToString();

    private static IPAddress? HostOf(ReadOnlySpan<byte> address)
    {
        const int V4Bytes = 16;
        int family = address.Length < 2 ? 0 : address[0] | (address[1] << 8);
        IPAddress? host = family == Libc.AF_INET && address.Length >= V4Bytes ? new IPAddress(address[4..8])
            : family == Libc.AF_INET6 && address.Length >= RawBytes ? new IPAddress(address[8..24]) : null;
        return host is { IsIPv4MappedToIPv6: true } ? host.MapToIPv4() : host;
    }

    /// <summary>The client's address without the port.</summary>
    internal string RemoteHost => Remote[..Remote.LastIndexOf(':')].Trim('[', ']');

    /// <summary>The client's end, as CLIENT LIST prints it.</summary>
    internal string Remote => IsUnix ? _unixPath + ":0" : Text(_remote);

    /// <summary>The server's end, as CLIENT LIST prints it.</summary>
    internal string Local => IsUnix ? _unixPath + ":0" : Text(_local);

    /// <summary>The port in the bytes of an address.</summary>
    internal static int PortOf(ReadOnlySpan<byte> address) => BinaryPrimitives.ReadUInt16BigEndian(address[2..]);

    private static int Family(byte[] address) => address[0] | (address[1] << 8);

    private static string Text(byte[] raw)
    {
        if (raw.Length < 16)
            return "?:0";
        if (Family(raw) == Libc.AF_INET)
            return $"{raw[4]}.{raw[5]}.{raw[6]}.{raw[7]}:{PortOf(raw)}";
        var address = new IPAddress(raw.AsSpan(8, 16));
        return address.IsIPv4MappedToIPv6 ? $"{address.MapToIPv4()}:{PortOf(raw)}" : $"[{address}]:{PortOf(raw)}";
    }

    private static byte[] Raw(IPEndPoint? end)
    {
        if (end is null)
            return [];
        bool v6 = end.AddressFamily == AddressFamily.InterNetworkV6;
        var raw = new byte[RawBytes];
        raw[0] = (byte)(v6 ? Libc.AF_INET6 : Libc.AF_INET);
        BinaryPrimitives.WriteUInt16BigEndian(raw.AsSpan(2), (ushort)end.Port);
        end.Address.TryWriteBytes(raw.AsSpan(v6 ? 8 : 4), out _);
        return raw;
    }
}
