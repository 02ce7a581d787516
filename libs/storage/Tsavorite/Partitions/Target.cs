namespace Tsavorite;

/// <summary>What a change works on: the key, its bucket, and the record found there (null if none).</summary>
internal unsafe ref struct Target
{
    public Partition* Partition;
    public byte* Bucket;
    public ulong* Slot;
    public byte* Record;
    public long NowMs;
}
