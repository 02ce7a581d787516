using System.Text;
using System.Text.Json;

namespace Garnet.Host.Operate;

/// <summary>The answers of <c>status</c> and <c>doctor</c> for programs: one object of JSON, on one line.</summary>
internal static class AnswerJson
{
    /// <summary>An object with what <paramref name="write"/> writes into it.</summary>
    public static string Of(Action<Utf8JsonWriter> write)
    {
        using var bytes = new MemoryStream();
        using (var json = new Utf8JsonWriter(bytes))
        {
            json.WriteStartObject();
            write(json);
            json.WriteEndObject();
        }
        return Encoding.UTF8.GetString(bytes.ToArray());
    }

    /// <summary>What is found, as a list.</summary>
    public static void Write(Utf8JsonWriter json, IEnumerable<Finding> findings)
    {
        json.WriteStartArray("findings");
        foreach (Finding one in findings)
        {
            json.WriteStartObject();
            json.WriteString("kind", one.IsTrouble ? "trouble" : "advice");
            json.WriteString("what", one.What);
            json.WriteString("why", one.Why);
            json.WriteString("next", one.Next);
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }
}
