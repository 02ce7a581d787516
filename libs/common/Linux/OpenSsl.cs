using System.Runtime.InteropServices;

namespace Garnet.Common.Linux;

/// <summary>Where OpenSSL is missing, the framework ends the process when it first hashes or seals, which may be at a client's command.</summary>
public static class OpenSsl
{
    /// <summary>True if the framework will find one. It is not kept: few servers need it before their first snapshot, and it takes 2 MB.</summary>
    public static bool IsThere() => IsThere("libssl.so.3") || IsThere("libssl.so.1.1");

    /// <summary>True if there is the version that <see cref="LibSsl"/> calls.</summary>
    public static bool IsThree() => IsThere("libssl.so.3");

    private static bool IsThere(string name)
    {
        if (!NativeLibrary.TryLoad(name, out nint library))
            return false;
        NativeLibrary.Free(library);
        return true;
    }
}
