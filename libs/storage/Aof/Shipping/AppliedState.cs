using System.Runtime.CompilerServices;

namespace Garnet.Aof.Shipping;

/// <summary>
/// What of a replica's log can be read: the number of the last batch that is applied as a whole, and the announcements of
/// what is being applied. A reader takes the number, asks <see cref="Sees"/> of its keys, reads, asks again: true both times
/// means that what it read is the state behind exactly that batch.
/// </summary>
public sealed class AppliedState : IDisposable
{
    private readonly Sketch _sketch = new();
    private ulong _number, _control;
    private long _sealedUnixUs;
    private uint _term;

    /// <summary>The last batch wholly applied.</summary>
    public ulong Number
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref _number);
    }

    /// <summary>Its term.</summary>
    public uint Term => Volatile.Read(ref _term);

    /// <summary>When it was closed on the primary, Unix microseconds.</summary>
    public long SealedUnixUs => Volatile.Read(ref _sealedUnixUs);

    internal Sketch Sketch => _sketch;

    /// <summary>True if nothing of a key with this hash is newer than the batch.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Sees(ulong hash, ulong number) => _sketch[hash] <= number && Volatile.Read(ref _control) <= number;

    /// <summary>Stands between the reading and the second question.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void AfterReading() => Volatile.ReadBarrier();

    /// <inheritdoc/>
    public void Dispose() => _sketch.Dispose();

    /// <summary>The store is another one now; nobody reads meanwhile.</summary>
    internal void Begin(uint term, ulong number)
    {
        _sketch.Clear();
        _control = 0;
        Publish(term, number, 0);
    }

    /// <summary>An operation on the whole store is about to run: whatever it touches belongs to the batch.</summary>
    internal void AnnounceControl(ulong batch)
    {
        Volatile.Write(ref _control, batch);
        Interlocked.MemoryBarrier();
    }

    internal void Publish(uint term, ulong number, ulong sealedUnixUs)
    {
        Volatile.Write(ref _term, term);
        Volatile.Write(ref _sealedUnixUs, (long)sealedUnixUs);
        Volatile.Write(ref _number, number);
    }
}
