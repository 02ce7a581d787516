using System.Text;
using System.Text.Json;
using Garnet.Common;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;

namespace Garnet.Server.Telemetry;

/// <summary>The lists of the page that somebody must have a right to see, as JSON.</summary>
internal static class PageLists
{
    /// <summary>Rows of a list at most: so many a person reads.</summary>
    internal const int RowsMax = 100;

    private const int TextCharsMax = 512;
    private const int HotKeysShown = 20;

    /// <summary>The newest slow commands.</summary>
    internal static void SlowLog(Utf8JsonWriter json, ServerContext server)
    {
        json.WriteStartArray("slowLog");
        foreach (CommandLogEntry entry in server.Monitoring.Slowlog.Newest(RowsMax))
        {
            json.WriteStartObject();
            json.WriteNumber("time", entry.UnixSeconds);
            json.WriteNumber("usec", entry.Measure);
            json.WriteString("command", Shown(string.Join(' ', entry.Arguments.Select(Encoding.UTF8.GetString))));
            json.WriteString("client", entry.Peer);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>The keys that are named most.</summary>
    internal static void HotKeys(Utf8JsonWriter json, ServerContext server)
    {
        json.WriteStartArray("hotKeys");
        foreach ((byte[] name, double share) in server.Monitoring.RecentKeys.Top(HotKeysShown, server.Clock.UnixMs))
        {
            json.WriteStartObject();
            json.WriteString("key", Shown(Encoding.UTF8.GetString(name)));
            json.WriteNumber("share", Math.Round(share, 4));
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>The clients that have the most memory.</summary>
    internal static void Clients(Utf8JsonWriter json, ServerContext server)
    {
        json.WriteStartArray("clients");
        foreach (Connection client in server.Clients().OrderByDescending(static client => client.MemoryBytes).Take(RowsMax))
        {
            long now = client.Worker.NowMs;
            json.WriteStartObject();
            json.WriteNumber("id", client.Id);
            json.WriteString("address", client.Peer.Remote);
            json.WriteString("name", Shown(client.Name));
            json.WriteString("user", Shown(client.User?.Name ?? ""));
            json.WriteNumber("age", Math.Max(now - client.CreatedMs, 0) / 1000);
            json.WriteNumber("idle", Math.Max(now - client.ActiveMs, 0) / 1000);
            json.WriteNumber("db", client.Database);
            json.WriteString("command", client.LastCommand == 0 ? "" : server.Commands.Specs[client.LastCommand].Name.ToLowerInvariant());
            json.WriteNumber("memory", client.MemoryBytes);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>All settings and who set them; secrets as the table shows them.</summary>
    internal static void Settings(Utf8JsonWriter json, ServerContext server)
    {
        json.WriteStartArray("settings");
        IEnumerable<Setting> shown = server.Core.Table.All.Where(static setting => !setting.Declared.Hidden);
        foreach (Setting setting in shown.OrderBy(static setting => setting.Name, StringComparer.Ordinal))
        {
            json.WriteStartObject();
            json.WriteString("name", setting.Name);
            json.WriteString("value", Shown(setting.Text));
            json.WriteString("source", setting.Source.ToString());
            json.WriteString("where", setting.Where);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>What others chose may be long.</summary>
    internal static string Shown(string text) => text.Length <= TextCharsMax ? text : text[..TextCharsMax] + "…";
}
