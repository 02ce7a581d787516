namespace Tsavorite;

/// <summary>
/// What a step that was put off waits for (<see cref="SessionTier.TakeWanted"/>). What has come of it is kept until all has, and for the step that is done again then:
/// its owner asks (<see cref="SessionTier.Awaits"/>) until it is over, or gives it up (<see cref="SessionTier.GiveUp"/>).
/// </summary>
public sealed class ColdWait
{
    internal ColdWait(ColdRead[] reads) => Reads = reads;

    internal ColdRead[] Reads { get; }

    /// <summary>Nobody waits for it any more.</summary>
    internal bool IsOver { get; set; }
}
