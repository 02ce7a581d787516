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
}
