using System.Text;

namespace Garnet.Migration;

/// <summary>A reply of RESP2: its type, its text (of strings that were asked for no longer than what is kept), and its elements.</summary>
internal sealed record Answer(char Kind, byte[] Bytes, IReadOnlyList<Answer> Items)
{
    /// <summary>True for an error.</summary>
    internal bool IsError => Kind == '-';

    /// <summary>True for +OK.</summary>
    internal bool IsOk => Kind == '+' && Text == "OK";

    /// <summary>True for a string, or none, that is nil.</summary>
    internal bool IsNil { get; init; }

    /// <summary>For people and numbers.</summary>
    internal string Text => Encoding.UTF8.GetString(Bytes);

    /// <summary>The same without what a terminal obeys.</summary>
    internal string Printable => Shown(Bytes);

    /// <summary>The head of a name of somebody else's, for people.</summary>
    internal static string Shown(ReadOnlySpan<byte> name)
    {
        const int ShownMax = 120;
        return string.Concat(Encoding.Latin1.GetString(name[..Math.Min(name.Length, ShownMax)])
            .Select(static c => c is < ' ' or > '~' ? '?' : c));
    }
}
