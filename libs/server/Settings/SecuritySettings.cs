using Garnet.Common;

namespace Garnet.Server;

/// <summary>Who may connect and who may do dangerous things.</summary>
public sealed class SecuritySettings
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

    [Setting("acllog-max-len", "Entries kept by ACL LOG.", Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true, Note = "There are no ACL users but the default one.")]
    public int AclLogEntriesMax { get; set; } = 128;

    // Names are compared as they are spelled and not looked up: what a name leads to is its owner's to say, now and when MIGRATE asks.
    internal bool AllowsMigration(string host, int port) => MigrateTargets.Split(' ', StringSplitOptions.RemoveEmptyEntries)
        .Any(target => target == "*" || target.Equals(host, StringComparison.OrdinalIgnoreCase) || target.Equals($"{host}:{port}", StringComparison.OrdinalIgnoreCase));
}
