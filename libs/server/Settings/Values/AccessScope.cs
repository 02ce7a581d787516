namespace Garnet.Server;

/// <summary>Who may use a dangerous command family; the spellings of redis.conf.</summary>
public enum AccessScope
{
    No,
    Yes,
    /// <summary>Connections from this machine only.</summary>
    Local,
}
