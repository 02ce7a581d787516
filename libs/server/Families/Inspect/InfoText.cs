using System.Globalization;
using System.Text;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Tsavorite;

namespace Garnet.Server.Families.Inspect;

/// <summary>
/// The text of INFO: Redis's sections, field names and order, since tools parse it by line. What this server has and Redis
/// does not is added at the end of a section, prefixed <c>garnet_</c>. Each group of sections is written by a type of its own.
/// </summary>
internal sealed class InfoText(ServerContext server)
{
    /// <summary>This server's own, where <c>redis-version</c> is what clients are told of.</summary>
    internal static readonly string Version = typeof(InfoText).Assembly.GetName().Version?.ToString(3) ?? "";

    private StoreFigures? _figures;

    internal ServerContext Server => server;

    internal StringBuilder Text { get; } = new(4096);

    /// <summary>Of one moment for all sections; only those who show them pay for them.</summary>
    internal Statistics.Totals Totals => field ??= server.Monitoring.Statistics.Now();

    /// <summary>Of one moment too.</summary>
    internal StoreFigures Figures => _figures ??= server.Store.Figures();

    internal void Section(string name)
    {
        if (Text.Length > 0)
            Text.Append("\r\n");
        Text.Append("# ").Append(name).Append("\r\n");
    }

    internal void Field(string name, string value) => Text.Append(name).Append(':').Append(value).Append("\r\n");

    internal void Field(string name, long value) => Text.Append(name).Append(':').Append(value).Append("\r\n");

    internal void Size(string name, long bytes)
    {
        Field(name, bytes);
        Field(name + "_human", Human(bytes));
    }

    private static string Human(long bytes) => bytes switch
    {
        < 1 << 10 => $"{bytes}B",
        < 1 << 20 => Scaled(bytes, 10, "K"),
        < 1 << 30 => Scaled(bytes, 20, "M"),
        < 1L << 40 => Scaled(bytes, 30, "G"),
        _ => Scaled(bytes, 40, "T"),
    };

    private static string Scaled(long bytes, int shift, string unit) => (bytes / (double)(1L << shift)).ToString("F2", CultureInfo.InvariantCulture) + unit;

    internal static string Percent(long part, long whole) => Fraction(whole == 0 ? 0 : part * 100.0 / whole) + "%";

    internal static string Ratio(long left, long right) => Fraction(right == 0 ? 0 : left / (double)right);

    internal static string Fraction(double number) => number.ToString("F2", CultureInfo.InvariantCulture);
}
