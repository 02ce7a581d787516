using System.Text;
using Garnet.Lua.Dialect;
using Garnet.Server.Clients;

namespace Garnet.Server.Scripting;

/// <summary>A script's text, what its first line says about it, and its name: the SHA1 of the text.</summary>
internal sealed class Script
{
    private static readonly Dictionary<string, ScriptFlags> FlagNames = new()
    {
        ["no-writes"] = ScriptFlags.NoWrites,
        ["allow-oom"] = ScriptFlags.AllowOom,
        ["allow-stale"] = ScriptFlags.AllowStale,
        ["no-cluster"] = ScriptFlags.NoCluster,
        ["allow-cross-slot-keys"] = ScriptFlags.AllowCrossSlotKeys,
    };

    /// <summary>Bytes of a script or library: to translate and compile it takes many times that in memory, and a second.</summary>
    internal const int SourceBytesMax = 4 << 20;

    /// <summary>What is said of a longer one.</summary>
    internal static readonly string TooLong = $"ERR the script is longer than {SourceBytesMax} bytes";

    private Script(ScriptName name, byte[] source, ScriptFlags flags)
    {
        Name = name;
        Text = name.ToString();
        Source = source;
        Flags = flags;
        IsOrdered = SpeaksOfDatabases(source);
    }

    internal ScriptName Name { get; }

    /// <summary>The name, spelt out.</summary>
    internal string Text { get; }

    internal byte[] Source { get; }

    internal ScriptFlags Flags { get; }

    /// <summary>Its text speaks of whole databases.</summary>
    internal bool IsOrdered { get; }

    /// <summary>Loaded by SCRIPT LOAD: it stays until SCRIPT FLUSH.</summary>
    internal bool IsLoaded { get; set; }

    /// <summary>When it was last used, in uses of the cache.</summary>
    internal long LastUse { get; set; }

    /// <summary>No longer in the cache: states forget it.</summary>
    internal volatile bool IsDropped;

    /// <summary>Bytes of memory, about.</summary>
    internal long MemoryBytes => Source.Length + 200;

    /// <summary>The source for the compiler.</summary>
    internal Translation Compilable() => Translator.Translate(Source);

    /// <summary>Reads the first line; null with the error, its code in front.</summary>
    internal static Script? Read(ScriptName name, ReadOnlySpan<byte> source, out string error)
    {
        ScriptFlags flags = ScriptFlags.None;
        error = source.Length > SourceBytesMax ? TooLong : "";
        if (error.Length > 0)
            return null;
        if (source.StartsWith("#!"u8) && !TryShebang(source, out flags, out error))
            return null;
        return new Script(name, source.ToArray(), flags);
    }

    /// <summary>True if the text has the name, or a part of it, of a command that changes whole databases.</summary>
    internal static bool SpeaksOfDatabases(ReadOnlySpan<byte> source)
    {
        string text = Encoding.Latin1.GetString(source);
        return text.Contains("flush", StringComparison.OrdinalIgnoreCase) || text.Contains("swapdb", StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>Reads the names of flags, separated by commas.</summary>
    internal static bool TryFlags(string names, ref ScriptFlags flags, out string unknown)
    {
        unknown = "";
        foreach (string name in names.Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            if (!FlagNames.TryGetValue(name, out ScriptFlags flag))
            {
                unknown = name;
                return false;
            }

            flags |= flag;
        }

        return true;
    }

    /// <summary>The names of flags, as FUNCTION LIST shows them.</summary>
    internal static IEnumerable<string> NamesOf(ScriptFlags flags) =>
        FlagNames.Where(pair => (flags & pair.Value) != 0).Select(static pair => pair.Key);

    private static bool TryShebang(ReadOnlySpan<byte> source, out ScriptFlags flags, out string error)
    {
        flags = ScriptFlags.HasShebang;
        error = "";
        int end = source.IndexOf((byte)'\n');
        if (end < 0)
        {
            error = "ERR Invalid script shebang";
            return false;
        }

        string[] words = Encoding.Latin1.GetString(source[..end]).Split([' ', '\t', '\r'], StringSplitOptions.RemoveEmptyEntries);
        if (words[0] != "#!lua")
        {
            error = "ERR Unexpected engine in script shebang: " + words[0];
            return false;
        }

        foreach (string word in words[1..])
        {
            if (!word.StartsWith("flags=", StringComparison.Ordinal))
                error = "ERR Unknown lua shebang option: " + word;
            else if (!TryFlags(word[6..], ref flags, out string unknown))
                error = "ERR Unexpected flag in script shebang: " + unknown;
            if (error.Length > 0)
                return false;
        }

        return true;
    }
}
