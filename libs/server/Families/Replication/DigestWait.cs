using System.Globalization;
using System.Text;
using Garnet.Common;
using Garnet.Replication.Frames;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;
using Tsavorite;

namespace Garnet.Server.Families.Replication;

/// <summary>
/// REPL DIGEST: reads the whole store on the thread that compares with replicas too, at the boundary of two batches. On a primary all
/// partitions are locked meanwhile; on a replica the next batch waits, and clients go on reading.
/// </summary>
internal sealed class DigestWait(ServerContext server) : LogWait, IDigestReader
{
    private sealed record Found(uint Term, ulong Batch, StoreDigest Digest);

    private volatile Found? _found;
    private volatile GarnetException? _unreadable;
    private volatile bool _ended;

    internal override bool Resume(Worker worker, Connection client)
    {
        if (!_ended)
            return false;
        if (_unreadable is { } unreadable)
        {
            worker.Out.Error(Encoding.Latin1.GetBytes(Unmet.TextOf(unreadable)));
            return true;
        }

        if (_found is not { } found)
        {
            worker.Out.Error("TRYAGAIN This server's data is coming in, or its role is changing; retry.");
            return true;
        }

        worker.Out.Map(3);
        worker.Out.Bulk("token"u8);
        worker.Out.Bulk(server.Replication.Position.TextOf(found.Term, found.Batch));
        worker.Out.Bulk("keys"u8);
        worker.Out.Int(found.Digest.Keys);
        worker.Out.Bulk("digests"u8);
        worker.Out.Array(DigestFrame.Shares);
        foreach (ulong share in found.Digest.Sums)
            worker.Out.Bulk(share.ToString("x16", CultureInfo.InvariantCulture));
        return true;
    }

    /// <inheritdoc/>
    public void Read(Func<bool> goesOn)
    {
        try
        {
            Find(goesOn);
        }
        catch (GarnetException e)
        {
            _unreadable = e;
        }

        _ended = true;
        server.Replication.Moves.Tell();
    }

    private void Find(Func<bool> goesOn)
    {
        ReplicationNode replication = server.Replication;
        if (replication.Role.Follower is { } follower)
        {
            using StoreSession session = server.Store.OpenSession();
            _found = follower.AtBoundary((term, batch) => Of(session, term, batch, goesOn));
        }
        else if (!replication.IsReplica)
        {
            _found = OfPrimary(replication, goesOn);
        }
    }

    private Found? OfPrimary(ReplicationNode replication, Func<bool> goesOn)
    {
        using StoreSession session = server.Store.OpenSession();
        session.LockAll();
        try
        {
            return Of(session, replication.Position.Term, replication.Position.LastBatch, goesOn);
        }
        finally
        {
            session.Unlock();
        }
    }

    private Found? Of(StoreSession session, uint term, ulong batch, Func<bool> goesOn) =>
        StoreDigest.TryOf(server.Store, session, server.Settings.Memory.Databases, goesOn) is { } digest
            ? new Found(term, batch, digest)
            : null;
}
