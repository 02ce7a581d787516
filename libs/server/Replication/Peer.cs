namespace Garnet.Server.Replication;

/// <summary>A server by its address.</summary>
internal sealed record Peer(string Host, int Port)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Host}:{Port}";
}
