using System.Runtime.InteropServices;
using Garnet.Bulk;
using NUnit.Framework;

namespace Garnet.Rdma.Test;

/// <summary>Memory of devices and pinning, as far as they show here; what the native layer does with a driver is tested over a stub of one (test/bulk).</summary>
internal sealed class DeviceTests
{
    private const int Bytes = 3_000_001;

    [OneTimeSetUp]
    public void The_library_is_there()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
    }

    [Test]
    public unsafe void Memory_of_the_host_is_copied_without_a_driver()
    {
        byte[] from = Pattern.Make(Bytes, 1), to = new byte[Bytes];
        fixed (byte* fromAt = from, toAt = to) BulkMemory.Copy(toAt, fromAt, Bytes);
        Assert.That(to, Is.EqualTo(from));
        BulkMemory.Copy(null, null, 0);
        Assert.That(() => BulkMemory.Copy(null, null, 1), Throws.TypeOf<BulkException>().With.Property("Status").EqualTo(BulkStatus.Invalid));
    }

    [Test]
    public async Task Memory_that_is_no_devices_is_not_registered_as_one()
    {
        await using var own = BulkEndpoint.Open("loop");
        byte[] host = GC.AllocateUninitializedArray<byte>(4096, pinned: true);
        // With a driver the memory is asked about; without one there is nobody to ask.
        Assert.That(() => Register(own, "cuda:0", host), Throws.TypeOf<BulkException>().With.Property("Status").AnyOf(BulkStatus.Invalid, BulkStatus.Unsupported));
        Assert.That(() => Register(own, "abacus:0", host), Throws.TypeOf<BulkException>().With.Message.EqualTo("Unsupported: no such kind of device"));
        Assert.That(own.Figures.RegionsOpen, Is.Zero);

        static unsafe void Register(BulkEndpoint endpoint, string device, byte[] host)
        {
            fixed (byte* at = host) endpoint.RegisterDevice(device, at, 4096).Dispose();
        }
    }

    [Test]
    public unsafe void Pins_wait_for_a_device_and_hold_nothing_up()
    {
        using (var segment = (IDisposable)BulkSegment.Open(Bytes, isPinned: true))
            Assert.That(BulkMemory.PinFigures.WaitingBytes + BulkMemory.PinFigures.PinnedBytes + BulkMemory.PinFigures.SkippedBytes, Is.GreaterThanOrEqualTo((ulong)Bytes));
        Assert.That(BulkMemory.PinFigures.LeakedBytes, Is.Zero);
        void* pages = NativeMemory.AlignedAlloc(1 << 16, 1 << 16);
        using (BulkPin pin = BulkMemory.Pin(pages, 1 << 16))
        {
            Assert.That(() => Again(pages), Throws.TypeOf<BulkException>().With.Property("Status").EqualTo(BulkStatus.Invalid));
            Assert.That(pin.Drop(), Is.EqualTo(BulkStatus.Ok));
        }
        Again(pages);
        NativeMemory.AlignedFree(pages);

        static void Again(void* pages) => BulkMemory.Pin(pages, 1 << 16).Dispose();
    }

    [Test]
    public unsafe void Memory_of_a_device_has_a_place_and_no_span()
    {
        var memory = new BulkDeviceMemory((void*)0x10000, 100);
        Assert.That(memory.Memory.Length, Is.EqualTo(100));
        using (var pin = memory.Memory[7..].Pin()) Assert.That((nint)pin.Pointer, Is.EqualTo((nint)0x10007));
        Assert.That(() => memory.Memory.Span.Length, Throws.TypeOf<NotSupportedException>());
    }
}
