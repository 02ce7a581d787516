using Garnet.Rdb;

namespace Garnet.Server.Replication.Export;

/// <summary>An RDB file goes down a link. By itself, as a start that exports nothing loads nothing of the format.</summary>
internal sealed class LinkSink(LinkSocket socket) : IRdbSink
{
    /// <inheritdoc/>
    public void Take(ReadOnlySpan<byte> bytes) => socket.Send(bytes);
}
