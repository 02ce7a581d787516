using System.Runtime.CompilerServices;
using Garnet.Bulk;
using Garnet.Bulk.Native;
using NUnit.Framework;

namespace Garnet.Rdma.Test;

/// <summary>What endpoints promise, on the provider that does as a script says, by a clock that the test moves.</summary>
internal sealed class EndpointTests
{
    private const int Piece = 64 * 1024;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20), Millisecond = TimeSpan.FromMilliseconds(1);

    [OneTimeSetUp]
    public void The_library_is_there()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
    }

    [Test]
    public async Task Memory_stays_pinned_until_it_is_at_rest_whoever_has_stopped_waiting()
    {
        await using Pair pair = new();
        using CountedMemory memory = new(Piece);
        using CancellationTokenSource stop = new();
        pair.Own.Script(new NativeLoopFault { Kind = LoopFaultKind.Delay, LaterNs = 10_000_000 });
        ValueTask<long> read = pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, Piece), memory.Memory, cancel: stop.Token);
        pair.Own.Advance(TimeSpan.Zero);
        await stop.CancelAsync();
        pair.Own.Advance(9 * Millisecond);
        Assert.That((memory.Pins, read.IsCompleted), Is.EqualTo((1, false)));
        pair.Own.Advance(1 * Millisecond);
        Assert.That(async () => await read, Throws.InstanceOf<OperationCanceledException>().With.Property("CancellationToken").EqualTo(stop.Token));
        Assert.That(memory.Pins, Is.EqualTo(0));
    }

    [Test]
    public async Task A_late_transfer_poisons_its_endpoint_and_is_given_back_once_it_is_at_rest()
    {
        await using Pair pair = new();
        using CountedMemory memory = new(Piece);
        pair.Own.Script(new NativeLoopFault { Kind = LoopFaultKind.Hang, LaterNs = 50_000_000 });
        ValueTask<long> read = pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, Piece), memory.Memory, new TransferOptions(10 * Millisecond));
        pair.Own.Advance(10 * Millisecond);
        Assert.That(pair.Own.Figures.IsPoisoned, Is.True);
        pair.Own.Advance(49 * Millisecond);
        Assert.That((memory.Pins, read.IsCompleted), Is.EqualTo((1, false)));
        var refused = Assert.ThrowsAsync<BulkException>(async () => await pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, 1), new byte[1]));
        Assert.That(refused!.Status, Is.EqualTo(BulkStatus.Poisoned));
        pair.Own.Advance(1 * Millisecond);
        var late = Assert.ThrowsAsync<BulkException>(async () => await read);
        Assert.That(late!.Status, Is.EqualTo(BulkStatus.Timeout));
        Assert.That(memory.Pins, Is.EqualTo(0));
    }

    [Test]
    public async Task A_close_ends_what_is_under_way_and_leaves_pinned_what_does_not_end()
    {
        await using Pair pair = new();
        using CountedMemory memory = new(Piece);
        pair.Own.Script(new NativeLoopFault { Kind = LoopFaultKind.Hang, LaterNs = 1_000_000 });
        ValueTask<long> read = pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, Piece), memory.Memory);
        pair.Own.Advance(TimeSpan.Zero);
        Assert.That(pair.Own.Close(TimeSpan.Zero), Is.EqualTo(BulkStatus.Busy));
        Assert.That(memory.Pins, Is.EqualTo(1));
        pair.Own.Advance(1 * Millisecond);
        Assert.That(pair.Own.Close(Limit), Is.EqualTo(BulkStatus.Ok));
        var ended = Assert.ThrowsAsync<BulkException>(async () => await read);
        Assert.That((ended!.Status, memory.Pins), Is.EqualTo((BulkStatus.Canceled, 0)));
    }

    [Test]
    public async Task Whoever_waits_for_room_in_the_ring_may_stop_waiting()
    {
        await using Pair pair = new(transfersMax: 1);
        using CountedMemory memory = new(Piece);
        using CancellationTokenSource stop = new();
        pair.Own.Script(new NativeLoopFault { Kind = LoopFaultKind.Delay, LaterNs = 1_000_000 });
        ValueTask<long> first = pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, Piece), new byte[Piece]);
        ValueTask<long> second = pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, Piece), memory.Memory, cancel: stop.Token);
        await stop.CancelAsync();
        Assert.That(async () => await second, Throws.InstanceOf<OperationCanceledException>());
        Assert.That(memory.Pins, Is.EqualTo(0));
        pair.Own.Advance(1 * Millisecond);
        Assert.That(await first, Is.EqualTo(Piece));
        Assert.That(await pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, 10), new byte[10]), Is.EqualTo(10));
    }

    [Test]
    public async Task Refused_transfers_cost_nothing()
    {
        await using Pair pair = new(transfersMax: 1);
        using CountedMemory memory = new(10);
        for (int round = 0; round < 100; round++)
        {
            var error = Assert.ThrowsAsync<BulkException>(async () => await pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, 11), memory.Memory));
            Assert.That((error!.Status, memory.Pins), Is.EqualTo((BulkStatus.Invalid, 0)));
        }
        Assert.That(await pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, 10), memory.Memory), Is.EqualTo(10));
    }

    [Test]
    public async Task What_nobody_has_any_more_is_closed_with_the_garbage()
    {
        await using Pair pair = new();
        Forget(pair.Exposed);
        for (int round = 0; round < 100 && pair.Exposed.Figures.RegionsOpen > 1; round++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Assert.That(pair.Exposed.Figures.RegionsOpen, Is.EqualTo(1));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Forget(BulkEndpoint endpoint) => Assert.That(endpoint.Register(new byte[100], BulkAccess.Read).Name.Length, Is.EqualTo(100));
    }

    [Test]
    public async Task A_transfer_allocates_nothing()
    {
        const int Tries = 5, Transfers = 1000;
        await using Pair pair = new();
        byte[] memory = GC.AllocateUninitializedArray<byte>(4096, pinned: true);
        long least = long.MaxValue;
        for (int attempt = 0; attempt < Tries; attempt++) // others allocate meanwhile
        {
            long before = GC.GetTotalAllocatedBytes(precise: true);
            for (int round = 0; round < Transfers; round++) Read(pair, memory);
            least = Math.Min(least, GC.GetTotalAllocatedBytes(precise: true) - before);
        }
        Assert.That(least / Transfers, Is.LessThan(8));
    }

    // An await would hand the test over to another thread, which is not what is counted.
    private static void Read(Pair pair, byte[] memory)
    {
        const int SpinsMax = 100_000_000;
        var reading = pair.Own.ReadAsync(pair.Peer, pair.Region.Name.Range(0, 4096), memory);
        for (int spins = 0; !reading.IsCompleted && spins < SpinsMax; spins++) Thread.Yield();
        if (reading.IsCompleted)
            reading.GetAwaiter().GetResult();
        else
            Assert.Fail("it does not end");
    }

    [Test]
    public unsafe void Structures_lie_as_the_library_declares_them() => Assert.That(
        new[]
        {
            sizeof(NativeEndpointConfig), sizeof(NativeRegionConfig), sizeof(RemoteRegion), sizeof(NativeLocal), sizeof(RemoteRange), sizeof(NativeTransfer),
            sizeof(NativeCompletion), sizeof(NativeRingHeader), sizeof(NativeRing), sizeof(NativeProviderFact), sizeof(NativeFigures), sizeof(NativeLoopFault),
            sizeof(NativeSegmentConfig), sizeof(NativePinConfig), sizeof(NativePins),
        },
        Is.EqualTo(new[] { 56, 40, 24, 24, 40, 56, 64, 192, 24, 256, 72, 40, 16, 24, 56 }));

    [Test]
    public void Names_of_regions_are_texts_and_back()
    {
        var name = new RemoteRegion(0x7f001000, ulong.MaxValue, 0xabcdef);
        Assert.That(RemoteRegion.Parse(name.ToString()), Is.EqualTo(name));
        Assert.That(() => RemoteRegion.Parse("1:2"), Throws.TypeOf<FormatException>());
        Assert.That(() => RemoteRegion.Parse("1:2:x"), Throws.TypeOf<FormatException>());
    }

    [Test]
    public void Bad_input_is_said_in_words()
    {
        Assert.That(() => BulkEndpoint.Open("carrier-pigeon"), Throws.TypeOf<BulkException>().With.Message.EqualTo("Unsupported: no such provider"));
        Assert.That(() => BulkEndpoint.Open("loop", new BulkEndpointOptions { TransfersMax = 3 }), Throws.TypeOf<BulkException>().With.Message.Contains("power of two"));
        Assert.That(async () => { await using var own = BulkEndpoint.Open("local"); own.Connect("nobody"u8, Limit); }, Throws.TypeOf<BulkException>().With.Message.Contains("nobody is at this address"));
    }

    private sealed class Pair : IAsyncDisposable
    {
        public Pair(int transfersMax = 16)
        {
            Exposed = BulkEndpoint.Open("loop", new BulkEndpointOptions { Exposes = true });
            Own = BulkEndpoint.Open("loop", new BulkEndpointOptions { HasVirtualClock = true, TransfersMax = transfersMax, CloseLimit = Limit });
            Region = Exposed.Register(Pattern.Make(2 * Piece, 1), BulkAccess.Read);
            Peer = Own.Connect(Exposed.Address.Span, Limit);
        }

        public BulkEndpoint Exposed { get; }
        public BulkEndpoint Own { get; }
        public BulkRegion Region { get; }
        public BulkPeer Peer { get; }

        public async ValueTask DisposeAsync()
        {
            await Own.DisposeAsync();
            await Exposed.DisposeAsync();
            Peer.Dispose();
            Region.Dispose();
        }
    }
}
