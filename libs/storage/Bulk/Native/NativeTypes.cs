using System.Runtime.InteropServices;

namespace Garnet.Bulk.Native;

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeEndpointConfig
{
    public uint Size, Flags;
    public byte* Provider;
    public ulong ProviderBytes, TimeoutNs;
    public uint RingEntries, Reserved;
    public byte* Bind;
    public ulong BindBytes;
}

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeRegionConfig
{
    public uint Size, Access;
    public void* Base;
    public ulong Bytes;
    public byte* Device;
    public ulong DeviceBytes;
}

[StructLayout(LayoutKind.Sequential)]
internal struct NativeSegmentConfig
{
    public uint Size, Flags;
    public ulong Bytes;
}

[StructLayout(LayoutKind.Sequential)]
internal struct NativePinConfig
{
    public uint Size;
    public BulkPinMode Mode;
    public ulong BudgetBytes, RetryNs;
}

[StructLayout(LayoutKind.Sequential)]
internal struct NativePins
{
    public uint Size, Mode;
    public ulong PinnedBytes, WaitingBytes, BudgetBytes, Failures, SkippedBytes, LeakedBytes;
}

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeLocal
{
    public void* At;
    public ulong Bytes, Region;
}

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeTransfer
{
    public uint Size, Reserved;
    public ulong Peer;
    public NativeLocal* Local;
    public RemoteRange* Remote;
    public uint LocalCount, RemoteCount;
    public ulong TimeoutNs, User;
}

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeCompletion
{
    public ulong User, Op;
    public BulkStatus Status;
    public int ProviderError;
    public ulong Bytes, ElapsedNs;
    public fixed ulong Reserved[3];
}

/// <summary>Of the mapped ring: `Head` is the library's, `Tail` the reader's.</summary>
[StructLayout(LayoutKind.Explicit, Size = 192)]
internal struct NativeRingHeader
{
    [FieldOffset(0)] public ulong Head;
    [FieldOffset(64)] public ulong Tail;
    [FieldOffset(132)] public uint Capacity;
}

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeRing
{
    public uint Size;
    public int Event;
    public NativeRingHeader* Header;
    public NativeCompletion* Entries;
}

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeProviderFact
{
    public uint Size;
    public BulkStatus Status;
    public fixed byte Name[16];
    public fixed byte Reason[232];
}

[StructLayout(LayoutKind.Sequential)]
internal struct NativeFigures
{
    public uint Size, State;
    public ulong TransfersOpen, RegionsOpen, PeersOpen, TransfersDone, TransfersFailed, BytesRead, BytesWritten, BytesStaged;
}

/// <summary>What happens to a coming piece of provider `loop`.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativeLoopFault
{
    public uint Size;
    public LoopFaultKind Kind;
    public ulong Skip, LaterNs, Bytes;
    public BulkStatus Status;
    public uint Reserved;
}

internal enum LoopFaultKind : uint
{
    Delay = 1,
    Fail = 2,
    Torn = 3,
    Hang = 4,
    Full = 5,
}
