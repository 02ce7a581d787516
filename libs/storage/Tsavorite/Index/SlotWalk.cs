namespace Tsavorite;

/// <summary>Walks all slots of a bucket and its chain, empty ones included, under the partition's lock.</summary>
internal unsafe ref struct SlotWalk
{
    private readonly Partition* _partition;
    private ulong* _words;
    private uint _next;
    private int _index, _last;

    public SlotWalk(Partition* partition, byte* bucket)
    {
        _partition = partition;
        _words = (ulong*)bucket;
        _last = Bucket.Words;
        _next = Bucket.Overflow(bucket);
    }

    public readonly ulong* Slot => _words + _index;

    public bool Next()
    {
        if (_index < _last)
        {
            _index++;
            return true;
        }
        if (_next == 0)
            return false;
        _words = Bucket.Node(_partition, _next);
        _next = (uint)*_words;
        _last = Bucket.NodeWords;
        _index = 1;
        return true;
    }
}
