using Garnet.Server.Test;
using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>A snapshot on demand, as a step of a test.</summary>
internal static class SnapshotSteps
{
    /// <summary>Takes a snapshot, after one that may be under way, and waits until it is there.</summary>
    public static void SaveSnapshot(this RespConnection client)
    {
        Eventually.Holds(() => client.Call("BGSAVE").ToString().Contains("started", StringComparison.Ordinal));
        Eventually.Holds(() => client.Call("INFO", "persistence").Text.Contains("rdb_bgsave_in_progress:0", StringComparison.Ordinal));
        Assert.That(client.Call("INFO", "persistence").Text, Does.Contain("rdb_last_bgsave_status:ok"));
    }
}
