using System.Text;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Scripting.Functions;

/// <summary>A library of functions: its text, whose first line names it, and what it registered when it was run in a state.</summary>
internal sealed class FunctionLibrary(string name, byte[] source)
{
    internal string Name => name;

    internal byte[] Source => source;

    /// <summary>Its text speaks of whole databases.</summary>
    internal bool IsOrdered { get; } = Script.SpeaksOfDatabases(source);

    internal List<Function> Functions { get; } = [];

    /// <summary>Reads the first line; null with the error, its code in front.</summary>
    internal static FunctionLibrary? Read(byte[] source, out string error)
    {
        error = "";
        int end = source.AsSpan().IndexOf((byte)'\n');
        if (!source.AsSpan().StartsWith("#!"u8))
            error = "ERR Missing library metadata";
        else if (end < 0)
            error = "ERR Invalid library metadata";
        else if (source.Length > Script.SourceBytesMax)
            error = Script.TooLong;
        if (error.Length > 0)
            return null;
        string[] words =
            Encoding.Latin1.GetString(source.AsSpan(2, end - 2)).Split([' ', '\t', '\r'], StringSplitOptions.RemoveEmptyEntries);
        string? name = NameIn(words, out error);
        return name is null ? null : new FunctionLibrary(name, source);
    }

    private static string? NameIn(string[] words, out string error)
    {
        error = "";
        string? name = null;
        foreach (string word in words.Skip(1))
        {
            if (!word.StartsWith("name=", StringComparison.OrdinalIgnoreCase))
                error = "ERR Invalid metadata value given: " + word;
            else if (name is not null)
                error = "ERR Invalid metadata value, name argument was given multiple times";
            if (error.Length > 0)
                return null;
            name = word[5..];
        }

        if (name is null)
            error = "ERR Library name was not given";
        else if (!Function.IsName(name))
            error = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
        else if (words[0] is not ("lua" or "LUA" or "Lua"))
            error = $"ERR Engine '{words[0]}' not found";
        return error.Length > 0 ? null : name;
    }
}
