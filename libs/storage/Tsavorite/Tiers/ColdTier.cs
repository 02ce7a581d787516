using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// Where records go that nobody reads: segments on a medium, whose index words stay in memory. What lies there is scratch: the log and
/// snapshots keep data, and a start begins with an empty tier.
/// store.C1: until the index word names the cold copy, under the partition's lock, the record in memory is the truth. A record that has changed
/// since it was copied stays, and its copy is dead.
/// store.C2, store.C3, store.C4: <see cref="ColdSegments"/>, <see cref="ColdReads"/>.
/// store.C5: a cold record is never changed where it lies: whoever changes it has it in memory first.
/// store.C7: what a step cannot read leaves it before it has changed anything, or ends the process: no value is left half changed.
/// </summary>
internal sealed class ColdTier : IDisposable
{
    /// <summary>One for all: what is missing is noted in the session.</summary>
    public static readonly ColdMissException Miss = new();

    private long _reads, _readBytes, _failures, _demoted, _demotedBytes, _writtenBytes, _promoted, _returned, _stillborn, _compacted,
        _evicted, _expired, _writeFailures;

    public ColdTier(IMedium medium, int segmentBytes)
    {
        Medium = medium;
        Segments = new ColdSegments(medium.Bytes, segmentBytes == 0 ? ColdSegments.SegmentBytesDefault : segmentBytes);
    }

    /// <summary>How often a record on the tier is read until it comes back to memory, 1 to 3.</summary>
    public int PromotionThreshold = 2;

    /// <summary>Bytes of fetched records that a session keeps for a moment, at most.</summary>
    public long KeptBytesMax = 64 << 20;

    /// <summary>Told of trouble; null: nobody.</summary>
    public ITierObserver? Observer;

    /// <summary>False: what is read on the tier stays there.</summary>
    public volatile bool Promotes = true;

    public IMedium Medium { get; }
    public ColdSegments Segments { get; }

    /// <summary>Steps that were put off until their records had come; not exact.</summary>
    public long Postponed;

    /// <summary>What failed last, and on which segment; null: nothing has.</summary>
    public volatile string? LastFailure;

    /// <summary>The namespace of the word's record where all of its segment have the same, else negative.</summary>
    public unsafe long NamespaceOf(ulong word) => Volatile.Read(ref Segments[Segments.NumberOf(word)]->Namespace);

    /// <summary>False if the word's record is of another namespace for certain.</summary>
    public bool MayHold(ulong word, uint ns) => NamespaceOf(word) is var of && (of == ColdSegment.MixedNamespaces || of == ns);

    public void CountRead(int bytes)
    {
        Interlocked.Increment(ref _reads);
        Interlocked.Add(ref _readBytes, bytes);
    }

    public void CountFailure(uint segment, int error)
    {
        long failures = Interlocked.Increment(ref _failures);
        LastFailure = $"segment {segment}: {(error == 0 ? "a checksum is wrong" : new System.ComponentModel.Win32Exception(error).Message)}";
        if (System.Numerics.BitOperations.IsPow2(failures))
            Observer?.OnReadFailed(LastFailure, failures);
    }

    public void CountWrite(int bytes, int error)
    {
        if (error == 0)
            Interlocked.Add(ref _writtenBytes, bytes);
        else
        {
            Interlocked.Increment(ref _writeFailures);
            LastFailure = $"writing: {new System.ComponentModel.Win32Exception(error).Message}";
        }
    }

    public void CountDemoted(int bytes)
    {
        Interlocked.Increment(ref _demoted);
        Interlocked.Add(ref _demotedBytes, bytes);
    }

    public void CountStillborn() => Interlocked.Increment(ref _stillborn);

    public void CountCompacted() => Interlocked.Increment(ref _compacted);

    /// <summary>Of those that came back, one came because it was read.</summary>
    public void CountPromoted()
    {
        Interlocked.Increment(ref _promoted);
        Interlocked.Decrement(ref _returned);
    }

    public void CountReturned() => Interlocked.Increment(ref _returned);

    public void CountEvicted() => Interlocked.Increment(ref _evicted);

    public void CountExpired() => Interlocked.Increment(ref _expired);

    /// <summary>Figures of the moment.</summary>
    public TierFigures Figures() => new()
    {
        Medium = Medium.Facts,
        SizeBytes = (long)Segments.Total * Segments.SegmentBytes,
        FreeBytes = (long)Segments.Free * Segments.SegmentBytes,
        Records = Segments.Live,
        Reads = Volatile.Read(ref _reads),
        ReadBytes = Volatile.Read(ref _readBytes),
        ReadFailures = Volatile.Read(ref _failures),
        WrittenBytes = Volatile.Read(ref _writtenBytes),
        WriteFailures = Volatile.Read(ref _writeFailures),
        Demoted = Volatile.Read(ref _demoted),
        DemotedBytes = Volatile.Read(ref _demotedBytes),
        Promoted = Volatile.Read(ref _promoted),
        Returned = Volatile.Read(ref _returned),
        Stillborn = Volatile.Read(ref _stillborn),
        Compacted = Volatile.Read(ref _compacted),
        Evicted = Volatile.Read(ref _evicted),
        Expired = Volatile.Read(ref _expired),
        Postponed = Volatile.Read(ref Postponed),
        LastFailure = LastFailure,
    };

    /// <inheritdoc/>
    public void Dispose() => Segments.Dispose(); // the medium is its owner's
}
