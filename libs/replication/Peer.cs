using System.Globalization;
using Garnet.Common;

namespace Garnet.Replication;

/// <summary>A server by its address.</summary>
public sealed record Peer(string Host, int Port)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Host}:{Port}";

    /// <summary>What the setting replicaof says; null for nobody.</summary>
    /// <exception cref="GarnetException">It says neither.</exception>
    public static Peer? Configured(string[] words)
    {
        if (words.Length == 0 || (words is [var no, var one] && $"{no} {one}".Equals("no one", StringComparison.OrdinalIgnoreCase)))
            return null;
        if (words is [var host, var port] && ushort.TryParse(port, NumberStyles.None, CultureInfo.InvariantCulture, out ushort number))
            return new Peer(host, number);
        throw new GarnetException(ExitKind.Configuration, $"replicaof {string.Join(' ', words)}", "it must be a host and a port",
            "Write: replicaof 127.0.0.1 6379");
    }
}
