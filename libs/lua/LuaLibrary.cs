using System.Runtime.InteropServices;
using Garnet.Common;
using Garnet.Common.Faults;

namespace Garnet.Lua;

/// <summary>
/// The native Lua 5.4 library, looked for when the first script wants it: a server that runs none does without. One that cannot be had is the
/// environment's failure, which a client is told, and not a mistake of the server.
/// </summary>
internal static class LuaLibrary
{
    /// <summary>Its name, as <see cref="NativeLibrary"/> takes it.</summary>
    internal const string Name = "lua54";

    // One that failed is tried again.
    private static readonly Lazy<nint> Loaded = new(static () => Load(Name), LazyThreadSafetyMode.PublicationOnly);

    /// <summary>The library.</summary>
    /// <exception cref="GarnetException">It is not there, or not for this machine.</exception>
    internal static nint Handle => Loaded.Value;

    /// <summary>Loads it by name, as a package has it for this platform or the system.</summary>
    /// <exception cref="GarnetException">It cannot be loaded.</exception>
    internal static nint Load(string name)
    {
        if (NativeLibrary.TryLoad(name, typeof(KeraLua.Lua).Assembly, null, out nint library))
            return library;
        string file = OperatingSystem.IsWindows() ? $"{name}.dll" : OperatingSystem.IsMacOS() ? $"lib{name}.dylib" : $"lib{name}.so";
        throw new GarnetException(
            ExitKind.Configuration, "Lua is not available",
            $"{file} is not there, or not for {RuntimeInformation.RuntimeIdentifier}; put it beside the server's program, then try again",
            "Put it beside the server's program");
    }
}
