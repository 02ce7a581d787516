using Garnet.Media;

namespace Tsavorite.Test.Tiers;

/// <summary>A range whose writer does not wait for what it has written, or fences before it writes.</summary>
internal sealed class WrongFences(IPmRange range, bool comesFirst) : IPmRange
{
    public long Bytes => range.Bytes;

    public PersistenceDomain Domain => range.Domain;

    public void Write(long offset, ReadOnlySpan<byte> lines)
    {
        if (comesFirst) range.Fence();
        range.Write(offset, lines);
    }

    public int Drain() => 0;

    public int Fence() => 0;

    public ReadOnlySpan<byte> At(long offset, int bytes) => range.At(offset, bytes);

    public void Dispose() => range.Dispose();
}
