using Garnet.Aof.Shipping;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>
/// What the role lets clients do.
/// replication.Z5: a read on a replica sees the state behind one batch, all its keys alike: its keys are looked up in the announcements before and
/// after it ran, and if a batch came in between, its reply is taken back and it runs again; after a few times, or when a batch that
/// touches its keys is being applied, it waits for the end of that batch. What has no keys to look up (SCAN, KEYS, a transaction), or looks
/// at keys that it does not name (a script, SORT_RO: CommandFlags.OtherKeys), holds up the next batch while it runs.
/// replication.Z6: what has expired when that batch was closed on the primary is hidden, whatever this server's clock says: replicas agree.
/// </summary>
internal sealed class RoleAccess(ReplicationSettings settings, RoleState role, AppliedState applied, ReplicaLinks links)
{
    private readonly ReplicationSettings _settings = settings;

    /// <summary>True if the rule of roles has something to say of commands: they are put to it one by one.</summary>
    internal bool IsAsked => role.IsReplica | role.IsChanging | _settings.ReplicasToWrite > 0;

    /// <summary>True while a replica has no data to show because all of it is coming in.</summary>
    internal bool IsLoading => role.Follower is { IsTorn: true };

    /// <summary>True if reads are to be checked against what is being applied: also by a replica that is to lead, until it does.</summary>
    internal bool ChecksReads => role.Follower is { IsFed: true };

    /// <summary>True if what is read must be the state behind one batch (replication.Z5).</summary>
    internal bool ReadsOneState => role.IsReplica || ChecksReads;

    /// <summary>True if plain clients may read here, and what they read is to be checked against what is being applied.</summary>
    internal bool TakesReads => ChecksReads && !IsOutOfTouch;

    /// <summary>True while writes are refused because too few replicas are near.</summary>
    internal bool LacksReplicas => !role.IsReplica && _settings.ReplicasToWrite > 0
        && links.CountGood(_settings.LagSecondsMax) < _settings.ReplicasToWrite;

    /// <summary>True while a replica refuses reads because it has lost its primary (<c>replica-serve-stale-data no</c>).</summary>
    internal bool IsStale => role.IsReplica && IsOutOfTouch;

    /// <summary>What readers of a replica may see.</summary>
    internal AppliedState Applied => applied;

    /// <summary>What reads have met.</summary>
    internal ReadFigures Reads { get; } = new();

    /// <summary>For so long a read waits for the batches that touch its keys, milliseconds.</summary>
    internal int ReadWaitMs => _settings.ReadWaitMs;

    private bool IsOutOfTouch => !_settings.ServesStaleData && role.Following is not { IsUp: true };

    /// <summary>A read waits until this has been applied, and is framed again.</summary>
    internal Parking Await(ReadPoint point, long untilMs)
    {
        Reads.BeginWait();
        return new ReadWait(this, point, untilMs);
    }
}
