using Garnet.Common.Resp;

namespace Garnet.Server.Families.Strings;

/// <summary>Strings that are to be set together: which arguments are the keys, and where the values lie.</summary>
internal readonly unsafe struct ManyStrings(int firstKey, int keyStep, int count, Arg* values, int valueStep)
{
    /// <summary>The argument that is the first key.</summary>
    internal int FirstKey => firstKey;

    /// <summary>From one key to the next.</summary>
    internal int KeyStep => keyStep;

    /// <summary>How many there are.</summary>
    internal int Count => count;

    /// <summary>Where the value of that number lies.</summary>
    internal Arg Value(int number) => values[number * valueStep];
}
