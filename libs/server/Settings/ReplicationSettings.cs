using Garnet.Common;

namespace Garnet.Server;

/// <summary>Whom this server follows, who may follow it, and what either promises.</summary>
public sealed partial class ReplicationSettings
{
    [Setting("replicaof", "Host and port of the primary whose data this server follows; empty for a primary.", Aliases = "slaveof")]
    public string[] ReplicaOf { get; set; } = [];

    [Setting("masteruser", "User name to give to the primary; empty for the default user.", Live = true)]
    public string PrimaryUser { get; set; } = "";

    [Setting("masterauth", "Password to give to the primary.", Live = true, Secret = true)]
    public string PrimaryPassword { get; set; } = "";

    [Setting("replica-serve-stale-data", "A replica that has lost its primary goes on answering reads; else they get MASTERDOWN.", Aliases = "slave-serve-stale-data", Live = true)]
    public bool ServesStaleData { get; set; } = true;

    [Setting("replica-read-only", "Replicas never take writes.", Aliases = "slave-read-only", Only = "yes", Why = "a replica's data is its primary's, or it would be nobody's", Live = true)]
    public bool ReadOnly { get; set; } = true;

    [Setting("replica-priority", "Which replica a Sentinel promotes: the lowest number first, 0 never.", Aliases = "slave-priority", Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true)]
    public int Priority { get; set; } = 100;

    [Setting("replica-announced", "Tells Sentinels of this replica.", Live = true)]
    public bool Announced { get; set; } = true;

    [Setting("replica-announce-ip", "Address to tell the primary, where it cannot be seen from the connection.", Aliases = "slave-announce-ip", Live = true)]
    public AnnouncedHost AnnounceAddress { get; set; } = AnnouncedHost.None;

    [Setting("replica-announce-port", "Port to tell the primary; 0 for the one listened on.", Aliases = "slave-announce-port", Unit = SettingUnit.Count, Min = 0, Max = 65535, Live = true)]
    public int AnnouncePort { get; set; }

    [Setting("repl-timeout", "Silence after which a link between primary and replica is given up.", Unit = SettingUnit.Seconds, Min = 1, Max = int.MaxValue / 1000, Live = true)]
    public int TimeoutSeconds { get; set; } = 60;

    [Setting("repl-backlog-size", "Memory for the last batches, from which a replica goes on after a short absence, beside maxmemory; 0 for an eighth of maxmemory, 1 MiB at least and 64 MiB at most.", Unit = SettingUnit.Bytes, Min = 0, Max = 1L << 40, Live = true)]
    public long BacklogBytes { get; set; }

    [Setting("repl-copy-keep", "How long a full copy whose link broke waits for its replica to come back and go on with it; no other snapshot is taken meanwhile, and what writers change is kept in memory. 0 begins anew.", Unit = SettingUnit.Seconds, Min = 0, Max = 3600, Live = true)]
    public int CopyKeepSeconds { get; set; } = 10;

    [Setting("repl-log-retention", "Size of the append-only file up to which what an attached replica has not got yet is kept in it.", Unit = SettingUnit.Bytes, Min = 0, Max = 1L << 50, Live = true)]
    public long RetentionBytes { get; set; } = 1L << 30;

    [Setting("repl-digest-period", "How often at most a primary that nobody writes to reads all its data and has its replicas compare theirs; 0 for never.", Unit = SettingUnit.Seconds, Min = 0, Max = int.MaxValue / 1000, Live = true)]
    public int DigestSeconds { get; set; } = 60;

    [Setting("min-replicas-to-write", "Writes are refused while fewer replicas than this keep up; 0 for none.", Aliases = "min-slaves-to-write", Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true)]
    public int ReplicasToWrite { get; set; }

    [Setting("min-replicas-max-lag", "A replica heard of within this time keeps up.", Aliases = "min-slaves-max-lag", Unit = SettingUnit.Seconds, Min = 0, Max = int.MaxValue, Live = true)]
    public int LagSecondsMax { get; set; } = 10;

    [Setting("shutdown-timeout", "How long a stop lets replicas get what was written last.", Unit = SettingUnit.Seconds, Min = 0, Max = int.MaxValue / 1000, Live = true)]
    public int StopSeconds { get; set; } = 10;

    [Setting("shutdown-handover", "A primary that stops lets a replica that has everything lead. Not for servers that Sentinels look after.", Live = true)]
    public bool HandsOverAtStop { get; set; }

    [Setting("rdb-export-version", "Version of the RDB files that SYNC sends: 10 is read by Redis from 7.0 on, 11 from 7.2 on, 12 from 7.4 on; only 12 holds the times at which fields of hashes expire.", Unit = SettingUnit.Count, Min = 10, Max = 12, Live = true)]
    public int ExportVersion { get; set; } = 10;

    [Setting("replica-read-wait", "How long a read on a replica waits for a batch that is being applied, before it is answered with TRYAGAIN.", Unit = SettingUnit.Milliseconds, Min = 1, Max = 60_000, Live = true)]
    public int ReadWaitMs { get; set; } = 100;

    [Setting("replica-apply-threads", "Threads that apply a primary's batches; 0 takes half of the cores.", Unit = SettingUnit.Count, Min = 0, Max = 256)]
    public int ApplyThreads { get; set; }

    [Setting("replica-sketch-bits", "How many places a replica has to announce in which keys are being changed, as a power of two; 8 bytes each. With fewer, more reads wait because of another key.", Unit = SettingUnit.Count, Min = 8, Max = 24)]
    public int SketchBits { get; set; } = 16;

    [Setting("replica-receive-memory", "Memory for batches received and not yet applied; when it is used up, the primary has to wait.", Unit = SettingUnit.Bytes, Min = 1 << 20, Max = 1L << 36, Live = true)]
    public long ReceiveBytesMax { get; set; } = 64L << 20;

    /// <summary>The longest pause before a primary is tried again. No setting: no server needs another, but tests that cut a link often would wait for little else.</summary>
    internal int PauseMsMax { get; set; } = 2000;

    /// <summary><see cref="TimeoutSeconds"/> in milliseconds.</summary>
    internal int TimeoutMs => TimeoutSeconds * 1000;

    /// <summary>What this server tells its primary of who it is.</summary>
    internal (string User, string Password) Credentials => (PrimaryUser, PrimaryPassword);
}
