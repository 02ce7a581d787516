namespace Tsavorite;

/// <summary>What a walk does where it comes to records on a tier.</summary>
internal enum ScanReads
{
    /// <summary>Waits for them.</summary>
    Wait,
    /// <summary>Ends with what it has shown; where that is nothing, it is put off (<see cref="ColdMissException"/>) if its owner allows it.</summary>
    PutOff,
    /// <summary>Looks only at those that may have parts which expire on their own, and waits once.</summary>
    Timed,
}
