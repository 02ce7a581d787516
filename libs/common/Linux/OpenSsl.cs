using System.Runtime.InteropServices;

namespace Garnet.Common.Linux;

/// <summary>Where OpenSSL is missing, the framework ends the process when it first hashes or seals, which may be at a client's command.</summary>
public static class OpenSsl
{
    // Of this processor alone, so that what lies there can be loaded.
    private static readonly string[] s_usual = RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.X64 => ["/usr/lib/x86_64-linux-gnu", "/usr/lib64"],
        Architecture.Arm64 => ["/usr/lib/aarch64-linux-gnu"],
        _ => [],
    };

    /// <summary>
    /// True if the framework will find one. Few servers need it before their first snapshot, so where its file lies in a usual place it is not loaded
    /// to see that: it takes 2 MB, and never leaves again.
    /// </summary>
    public static bool IsThere() => IsThere("libssl.so.3") || IsThere("libssl.so.1.1");

    /// <summary>True if there is the version that <see cref="LibSsl"/> calls.</summary>
    public static bool IsThree() => IsThere("libssl.so.3");

    private static bool IsThere(string name) => Array.Exists(s_usual, place => File.Exists(Path.Combine(place, name))) || Loads(name);

    private static bool Loads(string name)
    {
        if (!NativeLibrary.TryLoad(name, out nint library))
            return false;
        NativeLibrary.Free(library);
        return true;
    }
}
