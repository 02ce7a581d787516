namespace Garnet.Migration;

/// <summary>Which times of expiry a target's keys have while it follows (<see cref="ShiftedTimes"/>).</summary>
internal enum TargetTimes
{
    /// <summary>The source's, for good: the target cannot say when a key expires.</summary>
    Real,
    /// <summary>Later ones, all of them.</summary>
    Shifted,
    /// <summary>Some the source's: a cut-over has begun. Whoever goes on there makes all of them later first.</summary>
    Mixed,
}
