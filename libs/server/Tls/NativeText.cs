using System.Text;

namespace Garnet.Server.Tls;

/// <summary>Text as the C library has it.</summary>
internal static class NativeText
{
    /// <summary>Its bytes in UTF-8, with a zero behind them.</summary>
    internal static byte[] Of(string text) => Encoding.UTF8.GetBytes(text + "\0");
}
