using System.Globalization;
using System.Text;
using Garnet.Common.Bytes;
using Garnet.Server.Clients;
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
internal sealed class InfoText(ServerContext server, Worker asker)
{
    private const int TextBytes = 8192; // all sections by default, without a data directory
    private const int Utf8BytesMax = 3; // of one char
    private const int FixedCharsMax = 32;
    private const double WholeMax = 1e12; // whole numbers up to here have six decimals in 64 bits

    private byte[] _text = new byte[TextBytes];
    private int _length;

    /// <summary>Of one moment for all sections; only those who show them pay for them.</summary>
    internal Moment Moment { get; } = new(server);

    internal ServerContext Server => server;

    /// <summary>The worker whose client asks.</summary>
    internal Worker Asker => asker;

    /// <summary>What has been written.</summary>
    internal ReadOnlySpan<byte> Bytes => _text.AsSpan(0, _length);

    internal Statistics.Totals Totals => Moment.Totals;

    internal StoreFigures Figures => Moment.Store;

    internal void Section(string name)
    {
        if (_length > 0)
            Append("\r\n");
        Append("# ");
        Append(name);
        Append("\r\n");
    }

    internal void Field(string name, string value)
    {
        Begin(name, value.Length * Utf8BytesMax);
        _length += Encoding.UTF8.GetBytes(value, _text.AsSpan(_length));
        EndLine();
    }

    internal unsafe void Field(string name, long value)
    {
        Begin(name, NumberText.Int64BytesMax);
        fixed (byte* at = &_text[_length])
            _length += (int)(NumberText.Write(at, value) - at);
        EndLine();
    }

    /// <summary>Text as it is, for lines of another form.</summary>
    internal void Append(string text)
    {
        Reserve(text.Length * Utf8BytesMax);
        _length += Encoding.UTF8.GetBytes(text, _text.AsSpan(_length));
    }

    internal void Field(Figure figure) => Field(figure.Field, figure.Read(Moment));

    internal void Fields(params ReadOnlySpan<Figure> figures)
    {
        foreach (Figure figure in figures)
            Field(figure);
    }

    /// <summary>As a fraction, where INFO has seconds.</summary>
    internal void Seconds(Figure figure) =>
        Field(figure.Field, Fixed(figure.Read(Moment) * figure.Scale, 6));

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
        Fraction(bytes / (double)(1L << shift)) + unit;

    internal static string Percent(long part, long whole) => Fraction(whole == 0 ? 0 : part * 100.0 / whole) + "%";

    internal static string Ratio(long left, long right) => Fraction(right == 0 ? 0 : left / (double)right);

    internal static string Fraction(double number) => Fixed(number, 2);

    // By whole numbers: .NET takes half a microsecond for each of twenty such figures, since it works out all digits that a double stands for.
    private static string Fixed(double number, int decimals)
    {
        long scale = decimals == 2 ? 100 : 1_000_000;
        if (!(Math.Abs(number) < WholeMax))
            return number.ToString(decimals == 2 ? "F2" : "F6", CultureInfo.InvariantCulture);
        long parts = (long)Math.Round(Math.Abs(number) * scale, MidpointRounding.AwayFromZero);
        Span<char> text = stackalloc char[FixedCharsMax];
        int at = 0;
        if (number < 0 && parts != 0)
            text[at++] = '-';
        (parts / scale).TryFormat(text[at..], out int digits, default, CultureInfo.InvariantCulture);
        at += digits;
        text[at++] = '.';
        for (long rest = parts % scale, place = scale / 10; place > 0; rest %= place, place /= 10)
            text[at++] = (char)('0' + (rest / place));
        return new string(text[..at]);
    }

    // A field's name, and room for its value and the end of the line.
    private void Begin(string name, int valueBytes)
    {
        Reserve(checked((name.Length * Utf8BytesMax) + valueBytes + 3));
        _length += Encoding.UTF8.GetBytes(name, _text.AsSpan(_length));
        _text[_length++] = (byte)':';
    }

    private void EndLine()
    {
        _text[_length++] = (byte)'\r';
        _text[_length++] = (byte)'\n';
    }

    private void Reserve(int bytes)
    {
        if (_text.Length - _length < bytes)
            Array.Resize(ref _text, checked(Math.Max(_text.Length * 2, _length + bytes)));
    }
}
