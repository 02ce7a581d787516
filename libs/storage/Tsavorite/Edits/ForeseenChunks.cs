namespace Tsavorite;

/// <summary>
/// The chunks of a value that a step has said it will come to, whatever their order (<see cref="EditForesight"/>): those that it lacks, so many that the device
/// has no more of one step at a time.
/// </summary>
internal sealed class ForeseenChunks
{
    private const int NumbersMax = 4096; // kept from one step to the next: more take long to be cleared
    private const int LackedMax = 256; // at once: four times as many as the device has at a time
    private readonly uint[] _lacked = new uint[LackedMax];
    private HashSet<uint> _numbers = [];
    private ulong _owner;
    private int _lackedCount;
    private long _lackedBytes;

    /// <summary>True while none of them is lacked.</summary>
    public bool LacksNone => _lackedCount == 0;

    /// <summary>A step begins to tell which chunks of the value it will come to.</summary>
    public void Begin(ulong owner)
    {
        (_owner, _lackedCount, _lackedBytes) = (owner, 0, 0);
        if (_numbers.Count > NumbersMax)
            _numbers = [];
        else
            _numbers.Clear();
    }

    /// <summary>True if it has not told of this one yet.</summary>
    public bool TryAdd(uint number) => _numbers.Add(number);

    /// <summary>It lacks this one, of so many bytes at most; false if it cannot lack more at a time.</summary>
    public bool TryLack(uint number, long bytes, long bytesMax)
    {
        _lacked[_lackedCount++] = number;
        _lackedBytes += bytes;
        return _lackedCount < _lacked.Length && _lackedBytes < bytesMax;
    }

    /// <summary>Those of the value that are lacked, once.</summary>
    public ReadOnlySpan<uint> TakeLacked(ulong owner)
    {
        int count = _owner == owner ? _lackedCount : 0;
        _lackedCount = 0;
        return _lacked.AsSpan(0, count);
    }
}
