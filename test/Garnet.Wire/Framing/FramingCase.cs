using System.Text;

namespace Garnet.Wire.Framing;

/// <summary>Bytes for a fresh connection, and what must come back before the connection stays open or closes.</summary>
internal sealed record FramingCase(string Name, string Input, string Replies, Ending Ending)
{
    /// <summary>Where ours differs on purpose from the reference.</summary>
    public string? OursReplies { get; init; }

    public Ending? OursEnding { get; init; }

    /// <summary>The server wants a password and the client has not given it.</summary>
    public bool BeforeAuth { get; init; }

    public byte[] Bytes => Encoding.Latin1.GetBytes(Input);

    public string RepliesOf(ServerSide side) => side == ServerSide.Ours ? OursReplies ?? Replies : Replies;

    public Ending EndingOf(ServerSide side) => side == ServerSide.Ours ? OursEnding ?? Ending : Ending;

    public override string ToString() => Name;
}
