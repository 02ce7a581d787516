using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Server.Types.Collections;

/// <summary>Scores as text.</summary>
internal static class ScoreText
{
    /// <summary>A bulk string of the score's digits, in either protocol.</summary>
    internal static void Bulk(RespWriter to, double score)
    {
        Span<byte> text = stackalloc byte[NumberText.DoubleBytesMax];
        to.Bulk(text[..NumberText.WriteDouble(text, score)]);
    }
}
