namespace Garnet.Media;

/// <summary>A part of a medium: from where on, how many bytes, and what they lie on.</summary>
/// <param name="From">Its first byte.</param>
/// <param name="Bytes">How many there are.</param>
/// <param name="Facts">What it can do.</param>
/// <param name="IsInPlace">It is read where it lies.</param>
public sealed record MediumPart(long From, long Bytes, MediumFacts Facts, bool IsInPlace = false)
{
    /// <summary>What may be read behind bytes that are read in place.</summary>
    public const int SlackBytes = 64;
}
