namespace Garnet.Types.Streams;

/// <summary>What becomes of an entry that groups still refer to: it is pending, or has not been delivered yet.</summary>
public enum ReferencePolicy : byte
{
    /// <summary>The entry goes, what is pending stays.</summary>
    Keep,
    /// <summary>Both go.</summary>
    Delete,
    /// <summary>The entry stays as long as a group refers to it.</summary>
    Acknowledged,
}
