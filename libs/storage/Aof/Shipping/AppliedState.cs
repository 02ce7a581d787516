using System.Runtime.CompilerServices;

namespace Garnet.Aof.Shipping;

/// <summary>
/// What of a replica's log can be read: the number of the last batch that is applied as a whole, and the announcements of
/// what is being applied. A reader of some keys takes the <see cref="Point"/>, asks <see cref="Sees"/> of its keys, reads, asks
/// again: true both times means that what it read is the state behind exactly that batch. A reader who finds the <see cref="Stamp"/>
/// still and unchanged after it has read need not ask at all. A reader of everything holds the state (<see cref="TryHold"/>): batches
/// wait meanwhile.
/// </summary>
public sealed class AppliedState(int sketchBits = AppliedState.SketchBits) : IDisposable
{
    /// <summary>As many places as keep false waits rare; measured in benchmark/RESULTS.md, set replica.</summary>
    public const int SketchBits = 16;

    private readonly Sketch _sketch = new(sketchBits);
    private readonly object _gate = new();
    private ulong _number, _control;
    private long _sealedUnixUs;
    private uint _term, _store;
    private uint _stamp; // odd while the state is no batch's
    private int _holders;
    private bool _changes, _isWanted;

    /// <summary>The last batch wholly applied.</summary>
    public ulong Number
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref _number);
    }

    /// <summary>Its term.</summary>
    public uint Term => Volatile.Read(ref _term);

    /// <summary>When it was closed on the primary, Unix microseconds; 0 = not known.</summary>
    public long SealedUnixUs => Volatile.Read(ref _sealedUnixUs);

    /// <summary>Where the state stands now.</summary>
    public ReadPoint Point
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            uint store = Volatile.Read(ref _store);
            return new(Volatile.Read(ref _number), store);
        }
    }

    /// <summary>
    /// Changes before anything of a batch is applied and again when it is published: the same stamp before and after reading, and a still
    /// one, means that what was read is one batch's state, whatever the keys.
    /// </summary>
    public uint Stamp
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref _stamp);
    }

    /// <summary>True of a stamp that was taken while nothing was being applied.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsStill(uint stamp) => (stamp & 1) == 0;

    internal Sketch Sketch => _sketch;

    /// <summary>True if nothing of a key with this hash is newer than the point.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Sees(ulong hash, ReadPoint point) =>
        _sketch[hash] <= point.Number && Volatile.Read(ref _control) <= point.Number && Volatile.Read(ref _store) == point.Store;

    /// <summary>Stands between the reading and the second question.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void AfterReading() => Volatile.ReadBarrier();

    /// <summary>
    /// Keeps the state as it is until <see cref="Release"/>; false while a batch is being applied or waits for holders, for it comes
    /// first. Several may hold it at once.
    /// </summary>
    public bool TryHold()
    {
        lock (_gate)
        {
            if (_changes || _isWanted)
                return false;
            _holders++;
            return true;
        }
    }

    /// <summary>The holder is through.</summary>
    public void Release()
    {
        lock (_gate)
        {
            if (--_holders == 0)
                Monitor.PulseAll(_gate);
        }
    }

    /// <summary>The store is about to be filled anew: until the first batch behind that, nobody sees anything.</summary>
    public void Close()
    {
        BeginChange();
        Volatile.Write(ref _store, _store + 1);
        AnnounceControl(ulong.MaxValue);
    }

    /// <inheritdoc/>
    public void Dispose() => _sketch.Dispose();

    /// <summary>The store stands at the position, behind a batch that was closed at the time given (Unix microseconds, 0 = not known).</summary>
    public void Begin(LogPosition at, long sealedUnixUs)
    {
        ArgumentNullException.ThrowIfNull(at);
        Begin(at.Term, at.Batch, sealedUnixUs);
    }

    /// <summary>The store is another one now, or the same one after a pause; nobody changes it meanwhile.</summary>
    internal void Begin(uint term, ulong number, long sealedUnixUs)
    {
        // Also if it stands where it stood: a reader that began before the last batches must not find their announcements gone.
        Interlocked.Increment(ref _store);
        _sketch.Clear();
        Publish(term, number, sealedUnixUs);
        Volatile.Write(ref _control, 0);
        EndChange();
    }

    /// <summary>Waits for those who hold the state; from here on nobody does.</summary>
    internal void BeginChange()
    {
        lock (_gate)
        {
            _isWanted = true;
            while (_holders > 0) Monitor.Wait(_gate);
            (_isWanted, _changes) = (false, true);
            Volatile.Write(ref _stamp, _stamp | 1);
        }

        Interlocked.MemoryBarrier(); // nothing of the batch is seen before the stamp
    }

    /// <summary>The state is that behind a batch again.</summary>
    internal void EndChange()
    {
        lock (_gate)
        {
            Volatile.Write(ref _stamp, (_stamp | 1) + 1); // also if it was still: the store may be another one
            _changes = false;
        }
    }

    /// <summary>An operation on the whole store is about to run: whatever it touches belongs to the batch.</summary>
    internal void AnnounceControl(ulong batch)
    {
        Volatile.Write(ref _control, batch);
        Interlocked.MemoryBarrier();
    }

    internal void Publish(uint term, ulong number, long sealedUnixUs)
    {
        Volatile.Write(ref _term, term);
        Volatile.Write(ref _sealedUnixUs, sealedUnixUs);
        Volatile.Write(ref _number, number);
    }
}
