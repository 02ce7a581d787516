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
        BulkStatus expected = Gpu.WhyNot is null ? BulkStatus.Invalid : BulkStatus.Unsupported;
        Assert.That(() => Register(own, "cuda:0", host), Throws.TypeOf<BulkException>().With.Property("Status").EqualTo(expected));
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

    [Test, Category("gpu")]
    public async Task A_transfer_comes_to_a_device_and_goes_from_it()
    {
        if (Gpu.WhyNot is { } reason) Assert.Ignore(reason);
        await using var other = BulkEndpoint.Open("loop", new BulkEndpointOptions { Exposes = true });
        await using var own = BulkEndpoint.Open("loop");
        byte[] theirs = Pattern.Make(Bytes, 1);
        using BulkRegion exposed = other.Register(theirs, BulkAccess.Read | BulkAccess.Write);
        using BulkPeer peer = own.Connect(other.Address.Span, TimeSpan.FromSeconds(20));
        nint at = Gpu.Allocate(Bytes);
        using (BulkRegion region = Register(own, at))
        {
            BulkDeviceMemory memory = Memory(at);
            Assert.That(await own.ReadAsync(peer, exposed.Name.All, memory.Memory, new TransferOptions(Own: region)), Is.EqualTo(Bytes));
            byte[] expected = [.. theirs];
            theirs.AsSpan().Clear();
            Assert.That(await own.WriteAsync(peer, memory.Memory, exposed.Name.All, new TransferOptions(Own: region)), Is.EqualTo(Bytes));
            Assert.That(theirs, Is.EqualTo(expected));
            Assert.That(own.Figures.BytesStaged, Is.EqualTo(2ul * Bytes));
        }
        Gpu.Free(at);

        static unsafe BulkRegion Register(BulkEndpoint endpoint, nint at) => endpoint.RegisterDevice("cuda:0", (void*)at, Bytes);
        static unsafe BulkDeviceMemory Memory(nint at) => new((void*)at, Bytes);
    }

    /// <summary>As much of a real driver as it takes to have memory of a device.</summary>
    private static unsafe class Gpu
    {
        private static readonly nint s_library = NativeLibrary.TryLoad("libcuda.so.1", out nint library) ? library : 0;
        private static readonly Lazy<string?> s_whyNot = new(Begin);

        public static string? WhyNot => s_whyNot.Value;

        public static nint Allocate(nint bytes)
        {
            nint at = 0;
            int result = ((delegate* unmanaged<nint*, nint, int>)Function("cuMemAlloc_v2"))(&at, bytes);
            Assert.That(result, Is.Zero);
            return at;
        }

        public static void Free(nint at) => ((delegate* unmanaged<nint, int>)Function("cuMemFree_v2"))(at);

        private static nint Function(string name) => NativeLibrary.GetExport(s_library, name);

        private static string? Begin()
        {
            if (s_library == 0) return "there is no driver of a device (libcuda.so.1)";
            int count = 0;
            nint context = 0;
            if (((delegate* unmanaged<uint, int>)Function("cuInit"))(0) != 0) return "the driver does not begin";
            if (((delegate* unmanaged<int*, int>)Function("cuDeviceGetCount"))(&count) != 0 || count == 0) return "the driver has no device";
            if (((delegate* unmanaged<nint*, int, int>)Function("cuDevicePrimaryCtxRetain"))(&context, 0) != 0) return "the device has no context";
            return ((delegate* unmanaged<nint, int>)Function("cuCtxPushCurrent_v2"))(context) == 0 ? null : "the context is not taken";
        }
    }
}
