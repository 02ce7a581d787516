using System.Buffers;
using System.Text.Json;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;

namespace Garnet.Server.Telemetry;

/// <summary>What the page for operators shows to everybody who may read metrics, as JSON: figures under their names in INFO, and lists of bounded length.</summary>
internal static class PageOverview
{
    /// <summary>Commands that are shown, those that ran most: so many a person reads.</summary>
    private const int CommandsMax = 30;

    private static readonly (string Name, double Percentile)[] Percentiles = [("p50", 50), ("p99", 99), ("p999", 99.9)];

    internal static byte[] Of(Moment moment)
    {
        var buffer = new ArrayBufferWriter<byte>(16 * 1024);
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteNumber("time", moment.Server.Clock.UnixMs);
            json.WriteString("version", ServerTelemetry.Version);
            json.WriteString("role", moment.Server.Replication.IsReplica ? "replica" : "primary");
            json.WriteString("keeping", KeepingOf(moment.Server));
            json.WriteBoolean("tier", moment.Store.Tier is not null);
            Figures(json, moment);
            Conditions(json, moment.Server);
            Commands(json, moment);
            Databases(json, moment);
            Primary(json, moment);
            Replicas(json, moment);
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    private static string KeepingOf(ServerContext server)
    {
        if (server.Keeper is not { } keeper)
            return "nothing: memory only";
        if (!keeper.HasLog)
            return "snapshots only";
        return $"append-only file, durability {keeper.Guarantee}";
    }

    private static void Figures(Utf8JsonWriter json, Moment moment)
    {
        json.WriteStartObject("figures");
        foreach (Figure figure in ServerTelemetry.FiguresOf(moment))
            json.WriteNumber(figure.Field, figure.Read(moment));
        json.WriteEndObject();
    }

    private static void Conditions(Utf8JsonWriter json, ServerContext server)
    {
        json.WriteStartArray("ready");
        foreach (ReadyCondition condition in Readiness.Of(server))
        {
            json.WriteStartObject();
            json.WriteString("name", condition.Name);
            json.WriteString("problem", condition.Problem);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void Commands(Utf8JsonWriter json, Moment moment)
    {
        long[] calls = moment.ByCommand.Calls;
        bool isTracked = moment.Server.Settings.Inspect.LatencyTracking;
        json.WriteStartArray("commands");
        IEnumerable<int> busiest = Enumerable.Range(0, calls.Length).Where(id => calls[id] > 0).OrderByDescending(id => calls[id]);
        foreach (int id in busiest.Take(CommandsMax))
        {
            json.WriteStartObject();
            json.WriteString("name", moment.NameOf(id));
            json.WriteNumber("calls", calls[id]);
            json.WriteNumber("failed", moment.ByCommand.Failed[id]);
            json.WriteNumber("usec", moment.MicrosecondsOf(id));
            foreach ((string name, double percentile) in Percentiles)
                json.WriteNumber(name, isTracked ? ReactorFigures.BoundOf(moment.BucketsOf(id), percentile) : 0);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void Databases(Utf8JsonWriter json, Moment moment)
    {
        json.WriteStartArray("databases");
        foreach (DatabaseFigures database in moment.Databases.Take(PageLists.RowsMax))
        {
            json.WriteStartObject();
            json.WriteNumber("db", database.Number);
            json.WriteNumber("keys", database.Keys);
            json.WriteNumber("expires", database.Expiring);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void Primary(Utf8JsonWriter json, Moment moment)
    {
        if (!moment.Server.Replication.IsReplica || moment.Server.Replication.Role.Primary is not { } primary)
            return;
        json.WriteStartObject("primary");
        json.WriteString("address", PageLists.Shown(primary.ToString()));
        json.WriteBoolean("up", moment.Server.Replication.Role.Following is { IsUp: true });
        json.WriteNumber("lagMs", moment.LagMs);
        json.WriteEndObject();
    }

    private static void Replicas(Utf8JsonWriter json, Moment moment)
    {
        json.WriteStartArray("replicas");
        foreach (ReplicaFigures replica in moment.Replicas.Take(PageLists.RowsMax))
        {
            json.WriteStartObject();
            json.WriteString("address", PageLists.Shown($"{replica.Address}:{replica.Port}"));
            json.WriteString("state", replica.State);
            json.WriteNumber("lagMs", replica.LagMs);
            json.WriteNumber("lagBytes", replica.LagBytes);
            json.WriteNumber("silentMs", replica.SilentUs / 1000);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }
}
