using Garnet.Common;

namespace Tsavorite;

/// <summary>The descriptors of segments whose numbers begin at <paramref name="first"/>, to be found by their numbers.</summary>
internal readonly unsafe struct ColdTable(uint first, long count) : IDisposable
{
    private readonly NativeArray<ColdSegment> _memory = new(count);
    private readonly uint _first = first;

    /// <summary>Where the descriptor of number 0 would be.</summary>
    public ColdSegment* Items => _memory.Items - _first;

    /// <inheritdoc/>
    public void Dispose() => _memory.Dispose();
}
