namespace Tsavorite;

/// <summary>What is known of a key's record, to find its chunks by.</summary>
internal readonly unsafe struct TierRoot(byte* record, bool isCold, bool isInPersistentMemory)
{
    public readonly ulong Owner = Record.Owner(record);
    public readonly bool IsCold = isCold, IsInPersistentMemory = isInPersistentMemory;
    private readonly uint _limit = Record.Owner(record) == 0 ? 0 : RootLimit.Of(Record.Value(record));
    private readonly uint _sets = Record.Owner(record) == 0 ? 0 : RootLimit.SetsOf(Record.Value(record));

    /// <summary>How many numbers its chunks may have.</summary>
    public long Numbers => (long)_limit * _sets;

    /// <summary>One of these numbers; none that is in use is left out.</summary>
    public uint this[long index] => RootLimit.NumberOf((uint)(index / _limit), (uint)(index % _limit));
}
