namespace Tsavorite;

/// <summary>Faults that a test process may plant by <see cref="StoreTestHooks"/>; each must make some test fail.</summary>
internal enum PlantedFault
{
    None,
    /// <summary>A reader does not look at the bucket's sequence again.</summary>
    SkipRecheck,
    /// <summary>A reader does not look at the structure sequence again.</summary>
    SkipStructureRecheck,
    /// <summary>Records of the draining segment are changed in place.</summary>
    SkipDrainingRule,
    /// <summary>The sequence is even while a bucket changes.</summary>
    SkipOddSequence,
    /// <summary>The cleaner moves a record without moving the bucket's sequence.</summary>
    RelocateUnseen,
    /// <summary>A reader stores the raised frequency without comparing.</summary>
    StoreFrequencyBlindly,
    /// <summary>Several locks are taken in the order of the keys.</summary>
    LockInKeyOrder,
    /// <summary>A dead record stays in the account.</summary>
    ForgetLiveBytes,
    /// <summary>A split drops the words of overflow nodes.</summary>
    ForgetOverflowOnSplit,
    /// <summary>A reader shows expired records.</summary>
    SkipExpiryCheck,
    /// <summary>A scan goes on in the middle of a segment that was merged meanwhile.</summary>
    LoseCursorOnMerge,
    /// <summary>A dead segment enters the free list twice.</summary>
    DoubleFreeSegment,
    /// <summary>The word keeps its expiry bit when the expiry comes or goes.</summary>
    KeepOldTtlFlag,
    /// <summary>All namespaces hash alike.</summary>
    SkipHashMixOfNamespace,
    /// <summary>A reader trusts the lengths it finds.</summary>
    SkipLengthBound,
    /// <summary>A retired namespace takes new keys.</summary>
    SkipRetiredCheck,
    /// <summary>Expiry and eviction do not pass the log.</summary>
    SkipLogOfExpiry,
    /// <summary>An expiry set in place is not told to the segment.</summary>
    ForgetEarlierExpiry,
    /// <summary>Eviction takes chunks of collections too.</summary>
    EvictChunks,
    /// <summary>A freed run of pages stays in the account.</summary>
    ForgetExtentAccount,
    /// <summary>A writer neither saves nor stamps a bucket of a snapshot's cut.</summary>
    ForgetBucketStamp,
    /// <summary>The right half of a split is not stamped as the left is.</summary>
    SplitWithoutStamp,
    /// <summary>Index segments merge while a snapshot is taken.</summary>
    MergeDuringSnapshot,
    /// <summary>Who begins to listen is counted before the switch is turned, and believes the switch it finds.</summary>
    CountBeforeSwitch,
    /// <summary>A record leaves for the tier although it has changed since it was copied.</summary>
    DemoteUnseen,
    /// <summary>A batch looks whether somebody has the turn alone before it says that it begins.</summary>
    BeginUnsaid,
    /// <summary>A long value is overwritten where it lies although somebody looks at it without a lock.</summary>
    WriteIntoPinned,
    /// <summary>What was read of a segment on the tier is believed although another use is made of it since.</summary>
    BelieveReused,
    /// <summary>A record that was changed where it lies keeps what it was on the tier.</summary>
    KeepCopyOfChanged,
    /// <summary>A record goes back to its place on the tier although another use is made of it.</summary>
    ReviveReused,
}
