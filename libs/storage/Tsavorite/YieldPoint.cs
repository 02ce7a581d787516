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
    Buried,
    /// <summary>Inside a test's own operation.</summary>
    Value,
}
