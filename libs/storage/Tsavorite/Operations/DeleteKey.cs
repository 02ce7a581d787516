namespace Tsavorite;

/// <summary>Removes a key. Also what the log says of a key that expired, was evicted or flushed.</summary>
public struct DeleteKey : IModify
{
    /// <summary>Set by the run: what the removed record was, <see cref="RecordKind.None"/> if there was none.</summary>
    public RecordKind Removed;

    /// <inheritdoc/>
    public static byte OpId => 1;

    /// <inheritdoc/>
    public readonly long EncodedBytesMax => 0;

    /// <inheritdoc/>
    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Removed = existing.Kind;
        return existing.Exists ? Verdict.Remove : Verdict.Keep;
    }

    /// <inheritdoc/>
    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) { }

    /// <inheritdoc/>
    public readonly int Encode(Span<byte> to) => 0;

    /// <inheritdoc/>
    public readonly bool TryDecode(ReadOnlySpan<byte> from) => from.IsEmpty;

    /// <inheritdoc/>
    public readonly bool IsBlind => true;

    /// <inheritdoc/>
    public static bool Replaces(ReadOnlySpan<byte> arguments) => true;
}
