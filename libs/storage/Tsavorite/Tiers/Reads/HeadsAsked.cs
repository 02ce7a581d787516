namespace Tsavorite;

/// <summary>As long as it is not disposed of, looks need no more of a record than its head (<see cref="ColdReads.HeadsDo"/>).</summary>
internal readonly ref struct HeadsAsked : IDisposable
{
    private readonly ColdReads _reads;

    public HeadsAsked(ColdReads reads, bool headsDo)
    {
        _reads = reads;
        reads.HeadsDo = headsDo;
    }

    /// <inheritdoc/>
    public void Dispose() => _reads.HeadsDo = false;
}
