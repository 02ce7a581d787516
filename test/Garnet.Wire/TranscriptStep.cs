namespace Garnet.Wire;

/// <summary>One line of a transcript.</summary>
internal sealed record TranscriptStep(StepKind Kind, string Text, int Line)
{
    public static TranscriptStep Parse(string line, int number)
    {
        int blank = line.IndexOf(' ', StringComparison.Ordinal);
        string head = blank < 0 ? line : line[..blank];
        string rest = blank < 0 ? "" : line[(blank + 1)..].Trim();
        StepKind kind = head switch
        {
            ">>" => StepKind.Request,
            ">!" => StepKind.Raw,
            "<<" => StepKind.Reply,
            "<?" => StepKind.Until,
            "@closed" => StepKind.Closed,
            "@conn" => StepKind.Connection,
            "@resp3" => StepKind.Resp3,
            "@only" => StepKind.Only,
            "@both" => StepKind.Both,
            _ => throw new FormatException($"line {number}: {line}"),
        };
        return new TranscriptStep(kind, rest, number);
    }

    public byte[] Bytes() => Kind == StepKind.Raw
        ? System.Text.Encoding.Latin1.GetBytes(string.Concat(Quoted.Words(Text)))
        : RespConnection.Encode([.. Quoted.Words(Text)]);
}
