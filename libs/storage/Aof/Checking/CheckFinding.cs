namespace Garnet.Aof;

/// <summary>
/// One thing a check has to say: of which file, at which offset (0 = of the file as a whole), what; and whether it is damage,
/// which a start would refuse or have to work around, or only worth knowing.
/// </summary>
public sealed record CheckFinding(string File, long Offset, string Text, bool IsDamage)
{
    /// <summary>True if values are meant that lie on a tier and cannot be read there.</summary>
    public bool IsOfTier { get; init; }

    /// <inheritdoc/>
    public override string ToString() => Offset == 0 ? $"{File}: {Text}" : $"{File}, offset {Offset}: {Text}";
}
