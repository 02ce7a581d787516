namespace Garnet.Aof;

/// <summary>When written batches are made durable (the setting appendfsync).</summary>
public enum SyncPolicy
{
    /// <summary>The operating system decides.</summary>
    No,
    /// <summary>Within a second of being written, at most once a second.</summary>
    EverySecond,
    /// <summary>After each write: a change may be acknowledged when its batch is durable.</summary>
    Always,
}
