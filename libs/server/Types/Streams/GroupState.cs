using System.Runtime.InteropServices;

namespace Garnet.Server.Types.Streams;

/// <summary>What a group knows beside what is pending.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal struct GroupState
{
    internal const int Bytes = 32;

    /// <summary>In <see cref="Read"/>: not known.</summary>
    internal const long Unknown = -1;

    /// <summary>The last entry that was delivered.</summary>
    internal StreamId Last;
    /// <summary>Entries of the stream up to that one, as far as is known.</summary>
    internal long Read;
    /// <summary>Entries delivered and not acknowledged.</summary>
    internal long Pending;
}

/// <summary>What is known of a consumer.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal struct ConsumerState
{
    internal const int Bytes = 24;

    /// <summary>When it last asked for something.</summary>
    internal long SeenMs;
    /// <summary>When it last got something, -1 for never.</summary>
    internal long ActiveMs;
    internal long Pending;
}

/// <summary>An entry that was delivered and not acknowledged.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal struct PendingState
{
    internal const int Bytes = 20;

    /// <summary>In <see cref="Consumer"/>: none has it, it was released (XNACK).</summary>
    internal const int Nobody = -1;

    /// <summary>When it was delivered; below zero for one that was released: its place among those, the first of them least.</summary>
    internal long When;
    internal long Deliveries;
    /// <summary>The slot of the consumer that has it.</summary>
    internal int Consumer;

    internal readonly bool IsReleased => Consumer == Nobody;

    /// <summary>When it was delivered, 0 for one that was released.</summary>
    internal readonly long DeliveredMs => Math.Max(When, 0);

    /// <summary>How often it was delivered, once more counted.</summary>
    internal readonly long DeliveriesAndOne => Deliveries == long.MaxValue ? long.MaxValue : Deliveries + 1;

    /// <summary>Time since it was delivered, -1 for one that was released.</summary>
    internal readonly long IdleMs(long nowMs) => IsReleased ? -1 : Math.Max(nowMs - When, 0);

    /// <summary>True if it was left alone so long; one that was released always was.</summary>
    internal readonly bool IsDue(long minIdleMs, long nowMs) => IsReleased || minIdleMs <= 0 || nowMs - When >= minIdleMs;
}
