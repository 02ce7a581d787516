using System.Text;

namespace Garnet.Wire;

/// <summary>One reply or element: its type byte, its text, and its elements. Text is Latin-1, so that every byte survives.</summary>
internal sealed record RespNode(char Kind, string Text)
{
    public byte[] Raw { get; set; } = [];

    /// <summary>A string with a length in front, as opposed to the nil of the same type byte.</summary>
    public bool IsBulk { get; init; }

    public IReadOnlyList<RespNode>? Items { get; init; }

    /// <summary>The reply in the notation of the transcripts.</summary>
    public override string ToString()
    {
        StringBuilder text = new();
        Append(text, isTop: true);
        return text.ToString();
    }

    private void Append(StringBuilder text, bool isTop)
    {
        if (Items is not null)
        {
            (string open, string close) = Kind switch { '%' => ("{", "}"), '~' => ("~[", "]"), '>' => (">[", "]"), _ => ("[", "]") };
            text.Append(open);
            foreach (RespNode item in Items)
            {
                text.Append(' ');
                item.Append(text, isTop: false);
            }
            text.Append(' ').Append(close);
            return;
        }
        if (IsBulk) text.Append(Kind == '$' ? "" : Kind.ToString()).Append(Quoted.Quote(Text));
        else if (Kind is '+' or '-' && !isTop) text.Append(Kind).Append(Quoted.Quote(Text));
        else text.Append(Kind).Append(Kind is '+' or '-' ? Quoted.EscapeLine(Text) : Text);
    }
}
