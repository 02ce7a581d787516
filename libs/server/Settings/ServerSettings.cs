using Garnet.Common;
using Garnet.Types;

namespace Garnet.Server;

/// <summary>
/// Every setting of a server, in rooms. A new setting is a property with <see cref="SettingAttribute"/> in the room that
/// uses it; nothing else names it.
/// </summary>
public sealed class ServerSettings
{
    public NetworkSettings Network { get; } = new();
    public TlsSettings Tls { get; } = new();
    public SecuritySettings Security { get; } = new();
    public MemorySettings Memory { get; } = new();
    public TierSettings Tier { get; } = new();
    public InspectSettings Inspect { get; } = new();
    public PersistenceSettings Persistence { get; } = new();
    public BackupSettings Backups { get; } = new();
    public EncodingSettings Encoding { get; } = new();
    public ReplicationSettings Replication { get; } = new();
    public ScriptSettings Scripts { get; } = new();
    public BulkSettings Bulk { get; } = new();
    public AdminSettings Admin { get; } = new();

    /// <summary>True if there is to be a tier.</summary>
    public bool HasTier => Tier.Path.Length + Tier.PmPath.Length > 0;

    /// <summary>Puts every room and the parameters of redis that have no room here into <paramref name="table"/>.</summary>
    public void Register(SettingTable table)
    {
        table.Add(Network);
        table.Add(Tls);
        table.Add(Security);
        table.Add(Memory);
        table.Add(Tier);
        table.Add(Inspect);
        table.Add(Persistence);
        table.Add(Backups);
        table.Add(Encoding);
        table.Add(Replication);
        table.Add(Scripts);
        table.Add(Bulk);
        table.Add(Admin);
        ConfigCompatibility.Register(table);
    }
}
