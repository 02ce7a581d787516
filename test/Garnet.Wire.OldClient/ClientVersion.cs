using StackExchange.Redis;

namespace Garnet.Wire.Clients;

/// <summary>StackExchange.Redis 1.2.6, of 2017: RESP2 only.</summary>
internal static class ClientVersion
{
    internal static readonly Version Wanted = new(1, 2, 6);

    internal static readonly string[] Protocols = ["RESP2"];

    internal static ConfigurationOptions Speak(string protocol, ConfigurationOptions options) => options;

    internal static bool IsReplica(IServer server) => server.IsSlave;
}
