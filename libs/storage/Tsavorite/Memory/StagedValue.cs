namespace Tsavorite;

/// <summary>
/// Memory in which a long value gathers before its key has it: whoever has it fills it, away from all locks and for as long as that
/// takes, and gives it to <see cref="StoreSession.Modify{T}(in KeyRef, ref T, StagedValue)"/>, whose record it becomes as it lies. It
/// counts as memory in use. What was not taken is free once it is disposed of, from any thread.
/// </summary>
public sealed unsafe class StagedValue : IDisposable
{
    private readonly RecordSpace _records;
    private readonly uint _page;
    private readonly int _offset;
    private int _isGone;

    internal StagedValue(RecordSpace records, uint page, int offset, int length)
    {
        (_records, _page, _offset, Length) = (records, page, offset, length);
        Bytes = records.ExtentAddress(page) + offset;
    }

    /// <summary>Where it begins.</summary>
    public byte* Bytes { get; }

    /// <summary>Its bytes.</summary>
    public int Length { get; }

    /// <summary>True once it is a record's, which may change and die at any time from then on.</summary>
    public bool IsTaken { get; private set; }

    /// <summary>Makes it a record of the partition, whose lock is held; null if its value would not lie where this one does.</summary>
    internal byte* TryTake(Partition* partition, in KeyRef key, in NewRecord next)
    {
        bool fits = next.ValueBytes == Length && _offset == OffsetOf(Record.FlagsFor(next), key) && Volatile.Read(ref _isGone) == 0;
        if (!fits)
            return null;
        IsTaken = true;
        Volatile.Write(ref _isGone, 1);
        return _records.Adopt(partition, _page, next.ExpireAtMs);
    }

    internal static int OffsetOf(byte flags, in KeyRef key) => Record.KeyOffset(flags) + key.Length;

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isGone, 1) == 0)
            _records.Unstage(_page);
    }
}
