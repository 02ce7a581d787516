using System.Buffers;
using Garnet.Bulk;
using NUnit.Framework;

namespace Garnet.Rdma.Test;

/// <summary>The same of every provider that this machine has, between two endpoints of this process.</summary>
[TestFixture("loop")]
[TestFixture("local")]
[TestFixture("tcp")]
[TestFixture("net")]
[TestFixture("shm")]
[TestFixture("verbs")]
internal sealed class TransferTests(string provider)
{
    private const int Size = 3 << 20;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);
    // What `shm` refuses it never answers.
    private static readonly BulkEndpointOptions Initiating = new() { Timeout = TimeSpan.FromSeconds(2) };

    [OneTimeSetUp]
    public void The_machine_has_it()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
        ProviderFact fact = BulkLibrary.Providers.Single(known => known.Name == provider);
        if (!fact.IsAvailable)
            Assert.Ignore(fact.Reason);
    }

    [Test]
    public async Task Bytes_go_both_ways_at_odd_places([Values(1, 4097, (1 << 20) + 1, Size - 7)] int bytes)
    {
        await using var exposed = BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true });
        await using var own = BulkEndpoint.Open(provider, Initiating);
        byte[] memory = Pattern.Make(Size, 1), before = [.. memory];
        using BulkRegion region = exposed.Register(memory, BulkAccess.Read | BulkAccess.Write);
        using BulkPeer peer = own.Connect(exposed.Address.Span, Limit);

        byte[] read = new byte[bytes + 2];
        Assert.That(await own.ReadAsync(peer, region.Name.Range(3, (ulong)bytes), read.AsMemory(1, bytes)), Is.EqualTo(bytes));
        Assert.That(read.AsSpan(1, bytes).SequenceEqual(before.AsSpan(3, bytes)), Is.True);
        Assert.That((read[0], read[^1]), Is.EqualTo(((byte)0, (byte)0)));

        byte[] written = Pattern.Make(bytes, 2);
        Assert.That(await own.WriteAsync(peer, written, region.Name.Range(5, (ulong)bytes)), Is.EqualTo(bytes));
        written.CopyTo(before, 5);
        Assert.That(region.Close(Limit), Is.EqualTo(BulkStatus.Ok));
        Assert.That(memory.AsSpan().SequenceEqual(before), Is.True);
    }

    [Test]
    public async Task A_segment_is_reached_like_other_memory_and_goes_behind_its_last_region()
    {
        await using var exposed = BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true });
        await using var own = BulkEndpoint.Open(provider, Initiating);
        IMemoryOwner<byte> theirs = BulkSegment.Open(Size), ours = BulkSegment.Open(Size);
        byte[] wanted = Pattern.Make(Size, 1);
        using BulkRegion region = exposed.Register(theirs.Memory[5..], BulkAccess.Read | BulkAccess.Write);
        using BulkPeer peer = own.Connect(exposed.Address.Span, Limit);
        theirs.Dispose();
        Assert.That(await own.WriteAsync(peer, wanted.AsMemory(5), region.Name.All), Is.EqualTo(Size - 5));
        Assert.That(await own.ReadAsync(peer, region.Name.Range(100, 1_000_000), ours.Memory[..1_000_000]), Is.EqualTo(1_000_000));
        Assert.That(ours.Memory.Span[..1_000_000].SequenceEqual(wanted.AsSpan(105, 1_000_000)), Is.True);
        ours.Dispose();
        Assert.That(() => ours.Memory.Span.Length, Throws.TypeOf<ObjectDisposedException>());
        Assert.That(() => own.Register(ours.Memory, BulkAccess.None), Throws.TypeOf<ObjectDisposedException>());
    }

    [Test]
    public async Task Parts_are_gathered_and_scattered()
    {
        await using var exposed = BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true });
        await using var own = BulkEndpoint.Open(provider, Initiating);
        byte[] first = Pattern.Make(10_000, 1), second = Pattern.Make(10_000, 2);
        using BulkRegion a = exposed.Register(first, BulkAccess.Read), b = exposed.Register(second, BulkAccess.Read);
        using BulkPeer peer = own.Connect(exposed.Address.Span, Limit);
        byte[] read = new byte[1500];
        RemoteRange[] from = [b.Name.Range(17, 1000), a.Name.Range(9_500, 500)];
        await own.ReadAsync(peer, from, [read.AsMemory(1000), read.AsMemory(0, 1000)]);
        Assert.That(read.AsSpan(1000, 500).SequenceEqual(second.AsSpan(17, 500)), Is.True);
        Assert.That(read.AsSpan(0, 500).SequenceEqual(second.AsSpan(517, 500)), Is.True);
        Assert.That(read.AsSpan(500, 500).SequenceEqual(first.AsSpan(9_500, 500)), Is.True);
    }

    [Test]
    public async Task More_transfers_than_the_ring_holds_wait_for_each_other()
    {
        await using var exposed = BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true });
        await using var own = BulkEndpoint.Open(provider, Initiating with { TransfersMax = 4, Timeout = Limit });
        byte[] memory = Pattern.Make(64_000, 1), read = new byte[64_000];
        using BulkRegion region = exposed.Register(memory, BulkAccess.Read);
        using BulkPeer peer = own.Connect(exposed.Address.Span, Limit);
        await Task.WhenAll(Enumerable.Range(0, 64)
            .Select(at => own.ReadAsync(peer, region.Name.Range((ulong)at * 1000, 1000), read.AsMemory(at * 1000, 1000)).AsTask()));
        Assert.That(read.AsSpan().SequenceEqual(memory), Is.True);
        Assert.That(own.Figures, Has.Property(nameof(BulkFigures.TransfersDone)).EqualTo(64).And.Property(nameof(BulkFigures.TransfersOpen)).EqualTo(0));
    }

    [Test]
    public async Task What_is_not_allowed_is_an_error_and_changes_nothing([Values("right", "key", "closed")] string wrong)
    {
        await using var exposed = BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true });
        await using var own = BulkEndpoint.Open(provider, Initiating);
        byte[] memory = Pattern.Make(4096, 1), before = [.. memory];
        using BulkRegion region = exposed.Register(memory, wrong == "right" ? BulkAccess.Read : BulkAccess.Read | BulkAccess.Write);
        using BulkPeer peer = own.Connect(exposed.Address.Span, Limit);
        RemoteRegion name = wrong == "key" ? region.Name with { Key = region.Name.Key ^ 0x10000 } : region.Name;
        if (wrong == "closed")
            Assert.That(region.Close(Limit), Is.EqualTo(BulkStatus.Ok));
        var error = Assert.ThrowsAsync<BulkException>(async () => await own.WriteAsync(peer, new byte[100], name.Range(0, 100)));
        // Fabrics end the connection, or say nothing at all.
        Assert.That(error!.Status, Is.AnyOf(BulkStatus.Key, BulkStatus.Peer, BulkStatus.Timeout));
        Assert.That(memory.AsSpan().SequenceEqual(before), Is.True);
        var outside = Assert.ThrowsAsync<BulkException>(async () => await own.ReadAsync(peer, name.Range(4000, 97), new byte[97]));
        Assert.That(outside!.Status, Is.AnyOf(BulkStatus.Range, BulkStatus.Poisoned));
    }

    [Test]
    public async Task An_endpoint_that_exposes_nothing_refuses_to([Values(BulkAccess.Read, BulkAccess.Write)] BulkAccess access)
    {
        await using var own = BulkEndpoint.Open(provider);
        byte[] memory = new byte[100];
        var error = Assert.Throws<BulkException>(() => own.Register(memory, access));
        Assert.That(error!.Status, Is.EqualTo(BulkStatus.Denied));
        Assert.That(own.Figures.RegionsOpen, Is.EqualTo(0));
    }

    [Test]
    public async Task Things_may_be_released_in_any_order()
    {
        var exposed = BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true });
        var own = BulkEndpoint.Open(provider, Initiating);
        BulkRegion region = exposed.Register(new byte[4096], BulkAccess.Read);
        BulkPeer peer = own.Connect(exposed.Address.Span, Limit);
        await own.ReadAsync(peer, region.Name.All, new byte[4096]);
        await own.DisposeAsync();
        await exposed.DisposeAsync();
        Assert.That(region.Close(Limit), Is.EqualTo(BulkStatus.Ok));
        Assert.That(peer.Drop(Limit), Is.EqualTo(BulkStatus.Ok));
        Assert.That(async () => await own.ReadAsync(peer, region.Name.All, new byte[4096]), Throws.TypeOf<ObjectDisposedException>());
        await own.DisposeAsync();
    }
}
