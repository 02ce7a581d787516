namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>A rule that is left out, to see that it is missed.</summary>
public enum SimulationFault
{
    None,
    /// <summary>A reader does not look at the announcements again after it has read.</summary>
    SkipSecondLook,
    /// <summary>A reader takes the number of the batch it goes by after it has read.</summary>
    LatePoint,
    /// <summary>A reader of several keys reads each by itself.</summary>
    KeyByKey,
    /// <summary>A reader does not notice that the store was filled anew.</summary>
    IgnoreStore,
    /// <summary>A step over several keys is written key by key.</summary>
    SplitStep,
    /// <summary>A write is acknowledged before a replica has it.</summary>
    AckEarly,
    /// <summary>What a replica says counts, of whatever history it speaks.</summary>
    BelieveAcks,
    /// <summary>A server that is promoted amid a full copy begins with nothing.</summary>
    PromoteEmpty,
    /// <summary>Whichever replica is at hand is promoted.</summary>
    PromoteAny,
    /// <summary>A reply that waits for the log takes the numbers of whichever is in force.</summary>
    AnyLog,
    /// <summary>A token does not say who began its term.</summary>
    NoOwners,
    /// <summary>What a replica has received does not say up to where it was durable here.</summary>
    NoProofs,
}
