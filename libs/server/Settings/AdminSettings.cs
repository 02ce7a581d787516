using Garnet.Common;

namespace Garnet.Server;

/// <summary>The listener for operators: metrics, health, and a page to look at. Only the executable has it.</summary>
public sealed partial class AdminSettings
{
    [Setting("admin-port", "TCP port for operators, by HTTP: /metrics, /healthz, /readyz and a page at /; 0 for none.", Unit = SettingUnit.Count, Min = 0, Max = 65535)]
    public int Port { get; set; }

    /// <summary>Listen on any free TCP port, whatever <see cref="Port"/> says; for tests.</summary>
    public bool AnyPort { get; set; }

    /// <summary>True if there is to be such a listener.</summary>
    public bool Serves => Port > 0 || AnyPort;

    [Setting("admin-bind", "Addresses that admin-port is opened on; a leading dash tolerates an address that is not there, * and -::* mean all.")]
    public string[] Bind { get; set; } = ["127.0.0.1", "-::1"];

    [Setting("admin-hosts", "Names under which requests to admin-port are answered, beside localhost and the address that they came to; empty for no other.")]
    public string[] Hosts { get; set; } = [];

    [Setting("admin-ready-lag", "How old what a replica shows may be while /readyz says that it is ready.",
        Unit = SettingUnit.Milliseconds, Min = 0, Max = int.MaxValue, Live = true)]
    public long ReadyLagMilliseconds { get; set; } = 10_000;

    [Setting("admin-ready-snapshot-age",
        "How old the last snapshot may be while /readyz says that the server is ready; 0: snapshots are not judged.",
        Unit = SettingUnit.Seconds, Min = 0, Max = int.MaxValue, Live = true)]
    public long ReadySnapshotAgeSeconds { get; set; }
}
