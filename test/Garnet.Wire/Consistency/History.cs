namespace Garnet.Wire.Consistency;

/// <summary>What clients have done and seen; from any thread.</summary>
internal sealed class History
{
    private readonly Lock _gate = new();
    private readonly List<Write> _writes = [];
    private readonly List<Read> _reads = [];

    public IReadOnlyList<Write> Writes => _writes;

    public IReadOnlyList<Read> Reads => _reads;

    /// <summary>A write is about to be sent; the caller says when it was acknowledged.</summary>
    public Write Begin(long now, params (string Key, string Value)[] pairs)
    {
        var write = new Write(now, pairs);
        lock (_gate) _writes.Add(write);
        return write;
    }

    public void Add(Read read)
    {
        lock (_gate) _reads.Add(read);
    }
}
