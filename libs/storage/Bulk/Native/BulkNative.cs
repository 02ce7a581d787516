using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

[assembly: DisableRuntimeMarshalling]

namespace Garnet.Bulk.Native;

/// <summary>Every call of libgarnet-bulk, as its header (libs/native/bulk/include/garnet_bulk.h) declares them, and nothing else.</summary>
internal static unsafe partial class BulkNative
{
    public const string Name = "garnet-bulk";
    public const uint Version = 1;
    public const uint Exposes = 1, VirtualClock = 2, SegmentPin = 1;

    [LibraryImport(Name)] public static partial uint bk_abi_version();
    [LibraryImport(Name)] public static partial ulong bk_last_error(byte* text, ulong capacity);
    [LibraryImport(Name)] public static partial BulkStatus bk_provider_at(uint index, NativeProviderFact* fact);
    [LibraryImport(Name)] public static partial BulkStatus bk_endpoint_open(NativeEndpointConfig* config, ulong* endpoint);
    [LibraryImport(Name)] public static partial BulkStatus bk_endpoint_address(ulong endpoint, byte* address, ulong* bytes);
    [LibraryImport(Name)] public static partial BulkStatus bk_endpoint_figures(ulong endpoint, NativeFigures* figures);
    [LibraryImport(Name)] public static partial BulkStatus bk_endpoint_close(ulong endpoint, ulong limitNs);
    [LibraryImport(Name)] public static partial BulkStatus bk_endpoint_free(ulong endpoint);
    [LibraryImport(Name)] public static partial BulkStatus bk_endpoint_ring(ulong endpoint, NativeRing* ring);
    [LibraryImport(Name)] public static partial BulkStatus bk_segment_open(NativeSegmentConfig* config, ulong* segment, void** at);
    [LibraryImport(Name)] public static partial BulkStatus bk_segment_close(ulong segment);
    [LibraryImport(Name)] public static partial BulkStatus bk_peer_add(
        ulong endpoint, byte* address, ulong bytes, ulong limitNs, ulong* peer);
    [LibraryImport(Name)] public static partial BulkStatus bk_peer_drop(ulong endpoint, ulong peer, ulong limitNs);
    [LibraryImport(Name)] public static partial BulkStatus bk_region_open(
        ulong endpoint, NativeRegionConfig* config, ulong* region, RemoteRegion* name);
    [LibraryImport(Name)] public static partial BulkStatus bk_region_close(ulong endpoint, ulong region, ulong limitNs);
    [LibraryImport(Name)] public static partial BulkStatus bk_read(ulong endpoint, NativeTransfer* transfer, ulong* op);
    [LibraryImport(Name)] public static partial BulkStatus bk_write(ulong endpoint, NativeTransfer* transfer, ulong* op);
    [LibraryImport(Name)] public static partial BulkStatus bk_cancel(ulong endpoint, ulong op);
    [LibraryImport(Name)] public static partial BulkStatus bk_wait(ulong endpoint, ulong limitNs);
    [LibraryImport(Name)] public static partial ulong bk_provider_text(ulong endpoint, int providerError, byte* text, ulong capacity);
    [LibraryImport(Name)] public static partial BulkStatus bk_copy(void* to, void* from, ulong bytes);
    [LibraryImport(Name)] public static partial BulkStatus bk_pin_configure(NativePinConfig* config);
    [LibraryImport(Name)] public static partial BulkStatus bk_pin_add(void* at, ulong bytes, ulong* pin);
    [LibraryImport(Name)] public static partial BulkStatus bk_pin_drop(ulong pin);
    [LibraryImport(Name)] public static partial BulkStatus bk_pin_figures(NativePins* figures);
    [LibraryImport(Name)] public static partial BulkStatus bk_loop_script(ulong endpoint, NativeLoopFault* fault);
    [LibraryImport(Name)] public static partial BulkStatus bk_loop_advance(ulong endpoint, ulong ns);

    /// <summary>What the last call of this thread that failed has to say.</summary>
    public static string LastError()
    {
        byte* text = stackalloc byte[512];
        return Text(text, bk_last_error(text, 512), 512);
    }

    public static string ProviderText(ulong endpoint, int providerError)
    {
        byte* text = stackalloc byte[256];
        return providerError == 0 ? "" : Text(text, bk_provider_text(endpoint, providerError, text, 256), 256);
    }

    /// <summary>A time that a native limit can hold; what is below zero waits for ever.</summary>
    public static ulong Nanoseconds(TimeSpan time) => time < TimeSpan.Zero ? ulong.MaxValue : (ulong)time.Ticks * 100;

    private static string Text(byte* text, ulong length, int capacity) =>
        Encoding.UTF8.GetString(text, (int)Math.Min(length, (ulong)capacity - 1));
}
