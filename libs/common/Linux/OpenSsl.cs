using System.Runtime.InteropServices;

namespace Garnet.Common.Linux;

/// <summary>Where OpenSSL is missing, the framework ends the process when it first hashes or seals, which may be at a client's command.</summary>
public static class OpenSsl
{
    /// <summary>True if the framework will find one; it is in memory then, but not yet set up, which is what takes time.</summary>
    public static bool IsThere() => NativeLibrary.TryLoad("libssl.so.3", out _) || NativeLibrary.TryLoad("libssl.so.1.1", out _);
}
