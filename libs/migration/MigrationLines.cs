using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Garnet.Migration;

/// <summary>What a migration says while it runs: sentences, or objects of JSON, one a line.</summary>
/// <param name="write">Writes a line that stays.</param>
/// <param name="progress">Writes a line whose place the next one may take.</param>
/// <param name="asJson">True for objects.</param>
public sealed class MigrationLines(Action<string> write, Action<string> progress, bool asJson)
{
    private const long EveryMs = 1000;
    private long _lastMs = Environment.TickCount64;

    /// <summary>True at most once a second.</summary>
    internal bool IsTime()
    {
        long now = Environment.TickCount64;
        if (now - _lastMs < EveryMs)
            return false;
        _lastMs = now;
        return true;
    }

    /// <summary>A sentence.</summary>
    public void Say(string kind, string text)
    {
        if (!asJson)
            write(text);
        else
            write(Json(kind, [], text));
    }

    /// <summary>Figures, as a sentence for people.</summary>
    internal void Tell(string kind, string text, params (string Name, long Value)[] figures)
    {
        if (!asJson)
            progress(text);
        else
            write(Json(kind, figures, null));
    }

    /// <summary>Bytes for people.</summary>
    internal static string Megabytes(long bytes) => (bytes / 1e6).ToString("F1", CultureInfo.InvariantCulture);

    private static string Json(string kind, (string Name, long Value)[] figures, string? text)
    {
        using var bytes = new MemoryStream();
        using (var json = new Utf8JsonWriter(bytes))
        {
            json.WriteStartObject();
            json.WriteString("event", kind);
            if (text is not null)
                json.WriteString("text", text);
            foreach ((string name, long value) in figures)
                json.WriteNumber(name, value);
            json.WriteEndObject();
        }
        return Encoding.UTF8.GetString(bytes.ToArray());
    }
}
