namespace Tsavorite;

/// <summary>Places of <see cref="StoreTestHooks.Yield"/>: after the step each is named for, unless it says before.</summary>
internal enum YieldPoint
{
    BeforeLock,
    /// <summary>The lock is taken by someone else.</summary>
    Blocked,
    Locked,
    Unlocked,
    StructureRead,
    DirectoryRead,
    SequenceRead,
    Found,
    Looked,
    BeforeFrequency,
    SequenceOdd,
    BeforeSequenceEven,
    StructureOdd,
    BeforeStructureEven,
    Killed,
    /// <summary>Between a look at how many listen and what follows from it.</summary>
    Counted,
    /// <summary>The observer is on, or off.</summary>
    Switched,
    /// <summary>A thread has said that its turn begins or ends.</summary>
    TurnSaid,
    /// <summary>Between the counts of two partitions, looked at without a lock.</summary>
    Peeked,
    /// <summary>A freed run of pages is listed nowhere, and its memory is about to go back to the system.</summary>
    Returning,
    /// <summary>Inside a test's own operation.</summary>
    Value,
}
