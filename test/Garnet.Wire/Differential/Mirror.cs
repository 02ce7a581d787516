using System.Net;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Differential;

/// <summary>
/// Our server for streams of random commands, and a replica of it: whatever is written, the replica holds the same. What it means to be
/// the same is the server's own REPL DIGEST, so a new type joins by being written.
/// </summary>
internal sealed class Mirror : IDisposable
{
    private const string Flags = "--loglevel warning"; // servers of its own, also where a running one stands for ours
    private const int TriesMax = 200;
    private readonly ReplicaServer _primary, _replica;
    private readonly RespConnection _first, _second;

    public Mirror(string primaryFlags = "", string replicaFlags = "")
    {
        _primary = new ReplicaServer(keepsData: false, $"{Flags} {primaryFlags}".TrimEnd());
        _replica = new ReplicaServer(keepsData: false, $"{Flags} {replicaFlags}".TrimEnd());
        _replica.Follow(_primary);
        _first = _primary.Connect();
        _second = _replica.Connect();
    }

    public IPEndPoint Address => _primary.Process.Address;

    public IPEndPoint ReplicaAddress => _replica.Process.Address;

    /// <summary>Compares; keys expire meanwhile, so digests count only if they are of the same batch.</summary>
    public void Check()
    {
        for (int tries = 0; tries < TriesMax; tries++)
        {
            IReadOnlyList<RespNode> first = _first.Call("REPL", "DIGEST").Items!;
            Assert.That(_second.Call("REPL", "WAIT", first[1].Text, "4000").ToString(), Is.EqualTo("+OK"));
            IReadOnlyList<RespNode> second = _second.Call("REPL", "DIGEST").Items!;
            if (first[1].Text != second[1].Text) continue;
            Assert.That(string.Join(' ', second), Is.EqualTo(string.Join(' ', first)), "primary and replica hold the same");
            return;
        }
        Assert.Fail("the digests are never of the same batch");
    }

    public void Dispose()
    {
        _first.Dispose();
        _second.Dispose();
        _replica.Dispose();
        _primary.Dispose();
    }
}
