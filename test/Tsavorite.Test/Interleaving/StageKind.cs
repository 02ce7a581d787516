namespace Tsavorite.Test.Interleaving;

/// <summary>How a stage is set.</summary>
internal enum StageKind
{
    Plain,
    /// <summary>The shared key's word lies in an overflow node.</summary>
    Crowded,
    /// <summary>There is a tier, with nothing on it.</summary>
    Warm,
    /// <summary>All keys lie on the tier, some in a segment that is mostly dead.</summary>
    Cold,
    /// <summary>As <see cref="Cold"/>, and snapshots may name what lies there.</summary>
    Named,
    /// <summary>As <see cref="Cold"/>, and the shared key expires in half a second.</summary>
    Timed,
    /// <summary>As <see cref="Cold"/>, in persistent memory above an empty disk.</summary>
    Above,
    /// <summary>As <see cref="Warm"/>, and the shared key has a value that no segment of the tier takes alone.</summary>
    Long,
    /// <summary>As <see cref="Cold"/>, and so has it there.</summary>
    ColdLong,
    /// <summary>As <see cref="Named"/>, and the shared key has come back and is what it was there.</summary>
    Back,
}
