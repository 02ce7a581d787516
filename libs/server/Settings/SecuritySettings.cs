using Garnet.Common;

namespace Garnet.Server;

/// <summary>Who may connect and who may do dangerous things.</summary>
public sealed partial class SecuritySettings
{
    [Setting("protected-mode", "Without a password, serves only clients on this machine.", Live = true)]
    public bool ProtectedMode { get; set; } = true;

    [Setting("requirepass", "Password of the default user; empty for none.", Live = true, Secret = true)]
    public string Password { get; set; } = "";

    [Setting("enable-debug-command", "Who may use DEBUG.", Values = "no yes local")]
    public AccessScope DebugCommand { get; set; }

    [Setting("enable-protected-configs", "Who may change protected settings with CONFIG SET.", Values = "no yes local")]
    public AccessScope ProtectedConfigs { get; set; }

    [Setting("enable-module-command", "Who may use MODULE.", Values = "no yes local")]
    public AccessScope ModuleCommand { get; set; }

    [Setting("migrate-targets", "Where MIGRATE may send keys: host:port, or host for any of its ports, as the command spells it, separated by spaces; * for anywhere, nothing for nowhere.", Live = true, Protected = true)]
    public string MigrateTargets { get; set; } = "*";

    [Setting("aclfile", "File of the users, read at the start and by ACL LOAD; empty for none.")]
    public string AclFile { get; set; } = "";

    /// <summary>Users of the configuration file; not a setting, since there are many of them.</summary>
    public List<UserLine> Users { get; } = [];

    [Setting("audit-file", "File to which logins, refusals, changes of users and settings and commands of administrators are written as lines of JSON; log for the server's log; empty for none.")]
    public string AuditFile { get; set; } = "";

    [Setting("audit-events-per-second", "Events of the audit trail in a second at most; the others are counted.", Unit = SettingUnit.Count, Min = 1, Max = 1_000_000, Live = true)]
    public int AuditEventsPerSecond { get; set; } = 1000;

    [Setting("acl-pubsub-default", "What new users may do with channels: nothing, or everything.", Values = "resetchannels allchannels", Live = true)]
    public PubSubDefault PubSubDefault { get; set; }

    [Setting("acllog-max-len", "Entries kept by ACL LOG.", Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true)]
    public int AclLogEntriesMax { get; set; } = 128;

    // Names are compared as they are spelled and not looked up: what a name leads to is its owner's to say, now and when MIGRATE asks.
    internal bool AllowsMigration(string host, int port) => MigrateTargets.Split(' ', StringSplitOptions.RemoveEmptyEntries)
        .Any(target => target == "*" || target.Equals(host, StringComparison.OrdinalIgnoreCase)
            || target.Equals($"{host}:{port}", StringComparison.OrdinalIgnoreCase));
}
