namespace Garnet.Server;

/// <summary>When the append-only file is forced to disk; the spellings of redis.conf.</summary>
public enum AppendSync
{
    Everysec,
    Always,
    No,
}
