namespace Garnet.Server;

/// <summary>What a new user may do with channels; the spellings of redis.conf.</summary>
public enum PubSubDefault
{
    /// <summary>Nothing.</summary>
    ResetChannels,
    /// <summary>Everything.</summary>
    AllChannels,
}
