using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>An entry that was delivered and not acknowledged.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct PendingState
{
    public const int Bytes = 20;

    /// <summary>In <see cref="Consumer"/>: none has it, it was released (XNACK).</summary>
    public const int Nobody = -1;

    /// <summary>When it was delivered; below zero for one that was released: its place among those, the first of them least.</summary>
    public long When;
    public long Deliveries;
    /// <summary>The slot of the consumer that has it.</summary>
    public int Consumer;

    public readonly bool IsReleased => Consumer == Nobody;

    /// <summary>When it was delivered, 0 for one that was released.</summary>
    public readonly long DeliveredMs => Math.Max(When, 0);

    /// <summary>How often it was delivered, once more counted.</summary>
    public readonly long DeliveriesAndOne => Deliveries == long.MaxValue ? long.MaxValue : Deliveries + 1;

    /// <summary>Time since it was delivered, -1 for one that was released.</summary>
    public readonly long IdleMs(long nowMs) => IsReleased ? -1 : Math.Max(nowMs - When, 0);

    /// <summary>True if it was left alone so long; one that was released always was.</summary>
    public readonly bool IsDue(long minIdleMs, long nowMs) => IsReleased || minIdleMs <= 0 || nowMs - When >= minIdleMs;
}
