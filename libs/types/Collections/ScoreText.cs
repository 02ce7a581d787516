using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Types.Collections;

/// <summary>Scores as text.</summary>
public static class ScoreText
{
    /// <summary>A bulk string of the score's digits, in either protocol.</summary>
    public static void Bulk(RespWriter to, double score)
    {
        Span<byte> text = stackalloc byte[NumberText.DoubleBytesMax];
        to.Bulk(text[..NumberText.WriteDouble(text, score)]);
    }
}
