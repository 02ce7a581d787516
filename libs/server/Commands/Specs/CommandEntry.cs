using System.Runtime.CompilerServices;
using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>What dispatch reads of a command: one 32-byte line of the table.</summary>
internal unsafe struct CommandEntry
{
    /// <summary>The handler.</summary>
    public delegate*<ref Call, Reply> Run;
    /// <summary>Fewest arguments, name included.</summary>
    public int ArgsMin;
    /// <summary>Most arguments minus fewest.</summary>
    public uint ArgsSpan;
    /// <summary>Flags of the spec.</summary>
    public CommandFlags Flags;
    /// <summary>Index of the first key, 0 if none.</summary>
    public int FirstKey;
    /// <summary>Index of the first argument that is looked up in the key's collection, 0 if none.</summary>
    public int Member;
    /// <summary>Own number.</summary>
    public int Id;

    /// <summary>True if it is what a call of so many arguments names: what only groups subcommands is no command with an argument that names none of them.</summary>
    public readonly bool IsNamedBy(int count) => Id != 0 && ((Flags & CommandFlags.Container) == 0 || count == 1);

    /// <summary>True if it takes so many arguments, its name included.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // DispatchBenchmark: on the path of every command
    public readonly bool Takes(int count) => (uint)(count - ArgsMin) <= ArgsSpan;
}
