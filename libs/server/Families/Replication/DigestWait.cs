using System.Globalization;
using Garnet.Server.Clients;
using Garnet.Server.Net;
using Garnet.Server.Replication;
using Tsavorite;

namespace Garnet.Server.Families.Replication;

/// <summary>
/// REPL DIGEST: reads the whole store on the thread that compares with replicas too, at the boundary of two batches. On a primary all
/// partitions are locked meanwhile; on a replica the next batch waits, and clients go on reading.
/// </summary>
internal sealed class DigestWait(Server server) : LogWait
{
    private sealed record Found(uint Term, ulong Batch, StoreDigest Digest);

    private volatile Found? _found;
    private volatile bool _ended;

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
        reactor.Out.Bulk(server.Replication.TextOf(found.Term, found.Batch));
        reactor.Out.Bulk("keys"u8);
        reactor.Out.Int(found.Digest.Keys);
        reactor.Out.Bulk("digests"u8);
        reactor.Out.Array(StoreDigest.Shares);
        foreach (ulong share in found.Digest.Sums)
            reactor.Out.Bulk(share.ToString("x16", CultureInfo.InvariantCulture));
        return true;
    }

    /// <summary>Reads; given up when <paramref name="goesOn"/> says so.</summary>
    internal void Read(Func<bool> goesOn)
    {
        ReplicationNode replication = server.Replication;
        if (replication.Follower is { } follower)
        {
            using StoreSession session = server.Store.OpenSession();
            _found = follower.AtBoundary((term, batch) => Of(session, term, batch, goesOn));
        }
        else if (!replication.IsReplica)
        {
            _found = OfPrimary(replication, goesOn);
        }

        _ended = true;
        replication.OnMoved();
    }

    private Found? OfPrimary(ReplicationNode replication, Func<bool> goesOn)
    {
        using StoreSession session = server.Store.OpenSession();
        session.LockAll();
        try
        {
            return Of(session, replication.Term, replication.LastBatch, goesOn);
        }
        finally
        {
            session.Unlock();
        }
    }

    private Found? Of(StoreSession session, uint term, ulong batch, Func<bool> goesOn) =>
        StoreDigest.TryOf(server.Store, session, server.Settings.Memory.Databases, goesOn) is { } digest ? new Found(term, batch, digest) : null;
}
