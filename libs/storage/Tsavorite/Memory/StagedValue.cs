namespace Tsavorite;

/// <summary>
/// Memory in which a long value gathers before its key has it: whoever has it fills it, away from all locks and for as long as that
/// takes, and gives it to <see cref="Put"/>, whose record it becomes as it lies. It
/// counts as memory in use. What was not taken is free once it is disposed of, from any thread.
/// </summary>
public sealed unsafe class StagedValue : IDisposable
{
    private readonly RecordSpace _records;
    private readonly uint _page;
    private readonly int _offset;
    private int _isGone;

    private StagedValue(RecordSpace records, uint page, int offset, int length)
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

    /// <summary>
    /// Memory for a value to come of the key, for which room is made; null if a value so short lies among others, or there is no memory
    /// for it.
    /// </summary>
    public static StagedValue? TryBegin(StoreSession session, in KeyRef key, int valueBytes)
    {
        StoreCore core = session.Parts.Core;
        int offset = OffsetOf(0, key);
        long bytes = (long)offset + valueBytes;
        bool isLong = bytes > core.Shape->RecordBytesMax && valueBytes <= Record.ValueBytesMax && key.Length <= Store.KeyBytesMax;
        uint page = isLong && session.Room.Ensure(bytes) ? core.Records.Stage(bytes) : 0;
        return page == 0 ? null : new StagedValue(core.Records, page, offset, valueBytes);
    }

    /// <summary>
    /// <see cref="StoreSession.Modify"/> of an operation whose value lies here already: if it puts just that, under the key
    /// that this was begun for, with or without an expiry, the record lies here from then on, and nothing is copied.
    /// </summary>
    public Outcome Put<T>(StoreSession session, in KeyRef key, ref T operation) where T : struct, IModify
    {
        Writer writer = session.Parts.Writer;
        writer.Staged = this;
        try
        {
            return session.Modify(key, ref operation);
        }
        finally
        {
            writer.Staged = null;
        }
    }

    /// <summary>Makes it a record of the partition, whose lock is held; null if its value would not lie where this one does.</summary>
    internal byte* TryTake(Partition* partition, in KeyRef key, in NewRecord next)
    {
        bool fits = next.ValueBytes == Length && _offset == OffsetOf(Record.FlagsFor(next), key) && Volatile.Read(ref _isGone) == 0;
        if (!fits)
            return null;
        IsTaken = true;
        Volatile.Write(ref _isGone, 1);
        return _records.AdoptStaged(partition, _page, next.ExpireAtMs);
    }

    private static int OffsetOf(byte flags, in KeyRef key) => Record.KeyOffset(Record.FlagsInExtent(flags, RecordKind.String)) + key.Length;

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isGone, 1) == 0)
            _records.Unstage(_page);
    }
}
