using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Garnet.Server.Inspect;

/// <summary>An event as a line of JSON.</summary>
internal static class AuditLine
{
    internal static string Of(AuditEvent audited)
    {
        var bytes = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(bytes))
        {
            json.WriteStartObject();
            Write(json, "time", TimeOf(audited.UnixMs));
            Write(json, "event", audited.Kind);
            Write(json, "user", audited.User);
            json.WriteNumber("client", audited.ClientId);
            Write(json, "address", audited.Address);
            Write(json, "command", audited.Command);
            Write(json, "reason", audited.Reason);
            Write(json, "result", audited.Result);
            WriteNames(json, audited.Names);
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(bytes.WrittenSpan);
    }

    /// <summary>The line that says how many events are missing.</summary>
    internal static string OfLost(long unixMs, long count) =>
        string.Create(CultureInfo.InvariantCulture, $"{{\"time\":\"{TimeOf(unixMs)}\",\"event\":\"lost\",\"count\":{count}}}");

    private static string TimeOf(long unixMs) =>
        DateTimeOffset.FromUnixTimeMilliseconds(unixMs).ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture);

    private static void Write(Utf8JsonWriter json, string name, string text)
    {
        if (text.Length > 0)
            json.WriteString(name, text);
    }

    private static void WriteNames(Utf8JsonWriter json, IReadOnlyList<string> names)
    {
        if (names.Count == 0)
            return;
        json.WriteStartArray("names");
        foreach (string name in names)
            json.WriteStringValue(name);
        json.WriteEndArray();
    }
}
