namespace Garnet.Types.Soundness;

/// <summary>Elements of a sorted set, one after the other: each must lie above the one before.</summary>
public unsafe struct Ascent
{
    private byte* _member;
    private int _bytes;
    private double _score;

    /// <summary>Goes on to an element; false if it does not lie above the last one, or its score is none.</summary>
    public bool TryRise(double score, byte* member, int bytes)
    {
        bool rises = _member == null ? !double.IsNaN(score)
            : score > _score || (score == _score
                && new ReadOnlySpan<byte>(member, bytes).SequenceCompareTo(new ReadOnlySpan<byte>(_member, _bytes)) > 0);
        _score = score;
        _member = member;
        _bytes = bytes;
        return rises;
    }
}
