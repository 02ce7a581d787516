namespace Garnet.Media;

/// <summary>
/// A range of persistent memory as its writers see it: lines are stored, and after a fence they outlive the machine. Until then any of
/// them may have come, or any aligned eight bytes of one, in any order. Tests put a model of such memory in its place.
/// media.P1  Whole lines inside the range are written.
/// media.P2  Who has written fences, on the same thread: a fence says nothing of what other threads have stored.
/// </summary>
public interface IPmRange : IDisposable
{
    /// <summary>A line of the processor's cache.</summary>
    const int LineBytes = 64;

    /// <summary>Bytes there are.</summary>
    long Bytes { get; }

    /// <summary>What a fence is worth.</summary>
    PersistenceDomain Domain { get; }

    /// <summary>It is known to lie in memory that the end of the machine takes (tmpfs).</summary>
    bool IsMemory => false;

    /// <summary>A fence waits for this thread's stores and never for a device: who must not wait may fence.</summary>
    bool FencesAtOnce => false;

    /// <summary>Stores lines; they can be read at once, by this thread.</summary>
    void Write(long offset, ReadOnlySpan<byte> lines);

    /// <summary>What this thread has written before is durable when this returns 0, else the error number says why not; other threads then see it.</summary>
    int Fence();

    /// <summary>
    /// What this thread has written before has left the processor: other threads see it, and where the domain is real it is durable. Returns 0, or the error number.
    /// </summary>
    int Drain() => Fence();

    /// <summary>The bytes as they stand there.</summary>
    ReadOnlySpan<byte> At(long offset, int bytes);
}
