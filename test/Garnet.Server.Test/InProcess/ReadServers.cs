using System.Globalization;
using Garnet.Common.Time;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test.InProcess;

/// <summary>A server with keys to read, and with a replica if wanted, all in this process; for benchmarks too.</summary>
public sealed class ReadServers : IDisposable
{
    /// <summary>Bytes of all keys, and of all values.</summary>
    public const int KeyBytes = 16, ValueBytes = 64;

    private readonly EmbeddedServer _primary;
    private readonly EmbeddedServer? _replica;

    public ReadServers(int keys, bool hasReplica, IClock? clock = null)
    {
        _primary = new EmbeddedServer(clock: clock);
        _replica = hasReplica ? ReplicaGroup.ReplicaOf(_primary.Server.Port, clock: clock) : null;
        using InProcessClient client = ToPrimary();
        for (int i = 0; i < keys; i++) client.Exchange(Set(i));
        if (_replica is { } replica) ReplicaGroup.CatchUp(replica, _primary);
    }

    /// <summary>Name of a key.</summary>
    public static string Key(int number) => string.Create(CultureInfo.InvariantCulture, $"key:{number:D12}");

    /// <summary>The request that sets a key.</summary>
    public static string Set(int number) => $"*3\r\n$3\r\nSET\r\n${KeyBytes}\r\n{Key(number)}\r\n${ValueBytes}\r\n{new string('v', ValueBytes)}\r\n";

    /// <summary>A client of the server that was written to.</summary>
    public InProcessClient ToPrimary() => new(_primary.Server);

    /// <summary>A client of the one that follows it.</summary>
    public InProcessClient ToReplica() => new(_replica!.Server);

    /// <summary>How many keys were named so often that they are followed, the names of which are kept from then on.</summary>
    public int Followed(bool onReplica) => (onReplica ? _replica! : _primary).Server.Context.Monitoring.RecentKeys.Top(int.MaxValue, 0).Count;

    /// <summary>How often reads waited on the replica for what was being applied.</summary>
    public long Waits => _replica!.Server.Replication.Access.Reads.Waits;

    /// <summary>Returns when the replica has all that was written.</summary>
    public void CatchUp() => ReplicaGroup.CatchUp(_replica!, _primary);

    public void Dispose()
    {
        _replica?.Dispose();
        _primary.Dispose();
    }
}
