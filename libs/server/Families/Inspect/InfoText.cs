using System.Globalization;
using System.Text;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Telemetry;
using Tsavorite;

namespace Garnet.Server.Families.Inspect;

/// <summary>
/// The text of INFO: Redis's sections, field names and order, since tools parse it by line. What this server has and Redis
/// does not is added at the end of a section, prefixed <c>garnet_</c>. Each group of sections is written by a type of its own. A number that is a metric too
/// is declared in <see cref="Telemetry"/> and only named here.
/// </summary>
internal sealed class InfoText(ServerContext server)
{
    /// <summary>Of one moment for all sections; only those who show them pay for them.</summary>
    internal Moment Moment { get; } = new(server);

    internal ServerContext Server => server;

    internal StringBuilder Text { get; } = new(4096);

    internal Statistics.Totals Totals => Moment.Totals;

    internal StoreFigures Figures => Moment.Store;

    internal void Section(string name)
    {
        if (Text.Length > 0)
            Text.Append("\r\n");
        Text.Append("# ").Append(name).Append("\r\n");
    }

    internal void Field(string name, string value) => Text.Append(name).Append(':').Append(value).Append("\r\n");

    internal void Field(string name, long value) => Text.Append(name).Append(':').Append(value).Append("\r\n");

    internal void Field(Figure figure) => Field(figure.Field, figure.Read(Moment));

    internal void Fields(params ReadOnlySpan<Figure> figures)
    {
        foreach (Figure figure in figures)
            Field(figure);
    }

    /// <summary>As a fraction, where INFO has seconds.</summary>
    internal void Seconds(Figure figure) =>
        Field(figure.Field, (figure.Read(Moment) * figure.Scale).ToString("F6", CultureInfo.InvariantCulture));

    /// <summary>Whether it is well, in a word.</summary>
    internal void Status(Figure figure) => Field(figure.Field, figure.Read(Moment) == 1 ? "ok" : "err");

    internal void Size(Figure figure) => Size(figure.Field, figure.Read(Moment));

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

    private static string Scaled(long bytes, int shift, string unit) =>
        (bytes / (double)(1L << shift)).ToString("F2", CultureInfo.InvariantCulture) + unit;

    internal static string Percent(long part, long whole) => Fraction(whole == 0 ? 0 : part * 100.0 / whole) + "%";

    internal static string Ratio(long left, long right) => Fraction(right == 0 ? 0 : left / (double)right);

    internal static string Fraction(double number) => number.ToString("F2", CultureInfo.InvariantCulture);
}
