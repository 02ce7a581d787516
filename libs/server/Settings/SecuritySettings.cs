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

    [Setting("acllog-max-len", "Entries kept by ACL LOG.", Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true)]
    public int AclLogEntriesMax { get; set; } = 128;
}
