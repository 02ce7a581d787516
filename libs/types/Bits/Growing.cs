using Tsavorite;

namespace Garnet.Types.Bits;

/// <summary>A string that changes in some places and may become longer.</summary>
public static class Growing
{
    /// <summary>Brings what was there into the new value, zero bytes behind it.</summary>
    public static unsafe void Begin(in RecordView existing, Span<byte> value, bool inPlace)
    {
        int kept = Math.Min(existing.ValueBytes, value.Length);
        if (!inPlace)
            new ReadOnlySpan<byte>(existing.Value, kept).CopyTo(value);
        value[kept..].Clear();
    }
}
