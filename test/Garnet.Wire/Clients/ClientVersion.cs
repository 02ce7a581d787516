using StackExchange.Redis;

namespace Garnet.Wire.Clients;

/// <summary>The current StackExchange.Redis, in both protocols that it speaks.</summary>
internal static class ClientVersion
{
    internal static readonly Version Wanted = new(2, 13, 23);

    internal static readonly string[] Protocols = ["RESP2", "RESP3"];

    internal static ConfigurationOptions Speak(string protocol, ConfigurationOptions options)
    {
        options.Protocol = protocol == "RESP3" ? RedisProtocol.Resp3 : RedisProtocol.Resp2;
        return options;
    }

    internal static bool IsReplica(IServer server) => server.IsReplica;
}
