using Garnet.Lua.Libraries;

namespace Garnet.Lua;

/// <summary>The libraries of a state beside Lua's own: cjson, cmsgpack, struct, and what replaces functions of Lua 5.4 that differ in 5.1.</summary>
/// <param name="textBytesMax">Longest text that any of them makes.</param>
public sealed class LuaLibraries(long textBytesMax)
{
    private readonly JsonFunctions _json = new(textBytesMax);

    /// <summary>Their functions, by the names that the prelude knows.</summary>
    public IEnumerable<KeyValuePair<string, Func<LuaStack, int>>> All() =>
    [
        .. SandboxFunctions.All(),
        .. new RandomFunctions().All(),
        .. _json.All(),
        .. PackFunctions.All(textBytesMax),
        .. StructFunctions.All(textBytesMax),
        .. TableFunctions.All(textBytesMax),
        .. TextFunctions.All(textBytesMax),
    ];

    /// <summary>Forgets what a script has set; between scripts.</summary>
    public void Reset() => _json.Reset();
}
