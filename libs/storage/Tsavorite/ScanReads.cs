namespace Tsavorite;

/// <summary>What a walk does where it comes to records on a tier.</summary>
internal enum ScanReads
{
    /// <summary>Waits for them.</summary>
    Wait,
    /// <summary>Ends with what it has shown; where that is nothing, it is put off (<see cref="ColdMissException"/>) if its owner allows it.</summary>
    PutOff,
    /// <summary>Looks only at those that may have parts which expire on their own; ends, or is put off, in the same way, and waits once where its owner does not allow that.</summary>
    Timed,
}
