using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Garnet.Server.Tls;

/// <summary>What OpenSSL says went wrong in this thread, in its words.</summary>
internal static unsafe class TlsFault
{
    /// <summary>Begins what is said of a certificate that nobody vouches for.</summary>
    internal const string NotBelieved = "its certificate is not believed: ";

    /// <summary>The first of the errors that it keeps for the thread, which is the cause of the others; all are forgotten.</summary>
    internal static string Take()
    {
        nuint error = LibSsl.ERR_get_error();
        string? text = error == 0 ? null : Marshal.PtrToStringUTF8((nint)LibSsl.ERR_reason_error_string(error));
        LibSsl.ERR_clear_error();
        return text ?? "OpenSSL gives no reason";
    }

    /// <summary>True if it says that the other end does not speak TLS at all.</summary>
    internal static bool IsNoTls(string fault) => fault is "wrong version number" or "http request" or "packet length too long";

    /// <summary>True if it says that the other end's certificate is refused here.</summary>
    internal static bool IsDisbelief(string fault) => fault.StartsWith(NotBelieved, StringComparison.Ordinal);
}
