namespace Tsavorite;

/// <summary>
/// The first change of a step found no room in memory (store.U23), and room may be made for it (<see cref="StepRoom.Ensure"/>). Nothing has been changed: whoever
/// brought the step gives its locks back, asks for the room, and does it again. Thrown only where the owner of the session allows it (<see cref="StepRoom.MayPostpone"/>).
/// </summary>
public sealed class RoomMissException : Exception
{
    internal RoomMissException(long bytes) : base("Room is being made in memory.") => Bytes = bytes;

    /// <summary>Bytes that it needs.</summary>
    public long Bytes { get; }
}
