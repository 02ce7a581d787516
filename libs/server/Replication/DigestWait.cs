using System.Globalization;
using Garnet.Server.Net;
using Garnet.Server.Persistence;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// REPL DIGEST: reads the whole store on a thread of its own, at the boundary of two batches. On a primary all partitions are locked
/// meanwhile; on a replica the next batch waits, and clients go on reading.
/// </summary>
internal sealed class DigestWait(Server server) : LogWait
{
    private sealed record Found(uint Term, ulong Batch, StoreDigest Digest);

    private volatile Found? _found;
    private volatile bool _ended;

    /// <summary>Begins to read.</summary>
    internal void Begin() => new Thread(Run) { IsBackground = true, Name = "replication digest" }.Start();

    internal override bool Resume(Reactor reactor, Connection client)
    {
        if (!_ended)
            return false;
        if (_found is not { } found)
        {
            reactor.Out.Error("TRYAGAIN This server's data is coming in, or its role is changing; retry.");
            return true;
        }

        reactor.Out.Map(3);
        reactor.Out.Bulk("token"u8);
        reactor.Out.Bulk(Tokens.Text(found.Term, found.Batch));
        reactor.Out.Bulk("keys"u8);
        reactor.Out.Int(found.Digest.Keys);
        reactor.Out.Bulk("digests"u8);
        reactor.Out.Array(StoreDigest.Shares);
        foreach (ulong share in found.Digest.Sums)
            reactor.Out.Bulk(share.ToString("x16", CultureInfo.InvariantCulture));
        return true;
    }

    private void Run()
    {
        Replication replication = server.Replication;
        int databases = server.Settings.Memory.Databases;
        if (replication.Follower is { } follower)
            _found = follower.AtBoundary((term, batch) => new Found(term, batch, StoreDigest.Of(server.Store, databases)));
        else if (!replication.IsReplica)
            _found = OfPrimary(replication, databases);
        _ended = true;
        replication.OnMoved();
    }

    private Found OfPrimary(Replication replication, int databases)
    {
        using StoreSession session = server.Store.OpenSession();
        session.LockAll();
        try
        {
            return new Found(replication.Term, replication.LastBatch, StoreDigest.Of(server.Store, session, databases));
        }
        finally
        {
            session.Unlock();
        }
    }
}
