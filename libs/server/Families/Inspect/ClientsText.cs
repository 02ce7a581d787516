using Garnet.Server.Clients;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO clients.</summary>
internal static class ClientsText
{
    internal static void Write(InfoText info)
    {
        List<Connection> clients = info.Server.Clients();
        info.Section("Clients");
        info.Field("connected_clients", clients.Count);
        info.Field("cluster_connections", 0);
        info.Field("maxclients", info.Server.Settings.Network.ClientsMax);
        info.Field("client_recent_max_input_buffer", clients.Count == 0 ? 0 : clients.Max(client => (long)client.Pending.Capacity));
        info.Field("client_recent_max_output_buffer", clients.Count == 0 ? 0 : clients.Max(client => (long)client.Out.Capacity));
        info.Field("blocked_clients", clients.Count(client => client.Parked));
        info.Field("tracking_clients", info.Server.Observers.Tracker.Clients);
        info.Field("pubsub_clients", clients.Count(client => client.Subscriptions is { Count: > 0 }));
        info.Field("watching_clients", info.Server.Observers.Watches.Clients);
        info.Field("clients_in_timeout_table", clients.Count(static client => client.Waiting is { IsBlocking: true, DeadlineMs: < long.MaxValue }));
        info.Field("total_watched_keys", info.Server.Observers.Watches.Keys);
        info.Field("total_blocking_keys", info.Server.Observers.Waits.Keys);
        info.Field("total_blocking_keys_on_nokey", info.Server.Observers.Waits.KeysToStay);
    }
}
