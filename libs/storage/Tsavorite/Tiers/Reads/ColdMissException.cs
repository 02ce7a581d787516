namespace Tsavorite;

/// <summary>
/// A step came to a record that lies on a tier and is being fetched. Nothing has been changed: whoever brought the step does it again once
/// <see cref="SessionTier.Awaits"/> is false. Thrown only where the owner of the session allows it (<see cref="SessionTier.MayPostpone"/>); everybody else waits.
/// </summary>
public sealed class ColdMissException : Exception
{
    internal ColdMissException() : base("A record is being fetched from its tier.")
    {
    }
}
