using Garnet.Server.Telemetry;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO clients.</summary>
internal static class ClientsText
{
    internal static void Write(InfoText info)
    {
        info.Section("Clients");
        info.Field(ServerFigures.ConnectedClients);
        info.Field("cluster_connections", 0);
        info.Fields(
            ServerFigures.ClientsMax, ServerFigures.InputMax, ServerFigures.OutputMax, ServerFigures.BlockedClients,
            ServerFigures.TrackingClients, ServerFigures.PubSubClients, ServerFigures.WatchingClients, ServerFigures.TimedClients,
            ServerFigures.WatchedKeys, ServerFigures.BlockingKeys, ServerFigures.BlockingKeysToGo);
    }
}
