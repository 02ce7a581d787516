using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>
/// A command's data: feeds arity check, COMMAND INFO and DOCS, and key extraction. Arity counts the name;
/// negative means "at least". A subcommand is named <c>PARENT|CHILD</c>.
/// </summary>
internal sealed record CommandSpec(string Name, int Arity, CommandFlags Flags, KeySpec Keys = default)
{
    /// <summary>Group as in the Redis documentation (<c>string</c>, <c>generic</c>, …).</summary>
    public string Group { get; init; } = "";

    /// <summary>What it does, one line.</summary>
    public string Summary { get; init; } = "";

    /// <summary>Arguments in the notation of the reference: <c>key value [NX | XX] [EX seconds]</c>.</summary>
    public string Syntax { get; init; } = "";

    /// <summary>First version of Redis (or Valkey, or this server) that knew it.</summary>
    public string Since { get; init; } = "1.0.0";

    /// <summary>Cost in the usual notation.</summary>
    public string Complexity { get; init; } = "O(1)";

    /// <summary>ACL categories beyond those that follow from flags and group, without the @; with a minus one that does not hold although it would follow.</summary>
    public string Categories { get; init; } = "";

    /// <summary>Which arguments name channels.</summary>
    public ChannelSpec Channels { get; init; }

    /// <summary>Which databases it reaches.</summary>
    public DatabaseReach Databases { get; init; }

    /// <summary>Index of the first argument that is looked up in the key's collection, 0 if none: brought near while a batch is framed.</summary>
    public int Member { get; init; }

    /// <summary>What the command tells of a key it has written, for keyspace notifications; null if nothing of its own.</summary>
    public KeyEvent? Event { get; init; }

    /// <summary>Of which keys that are not there the command tells.</summary>
    public KeyMisses Misses { get; init; }

    /// <summary>What it may take beyond the bytes of its arguments, where that can be much: EXEC finds room for it first. Null for nothing.</summary>
    public RoomNeeded? Room { get; init; }

    /// <summary>True where an unknown subcommand and a wrong number of arguments have one answer (DEBUG).</summary>
    public bool TellsArityTogether { get; init; }

    /// <summary>Command tips for clients.</summary>
    public string Tips { get; init; } = "";

    /// <summary>The name without its parent.</summary>
    public string ShortName => Name[(Name.IndexOf('|') + 1)..];

    /// <summary>True for the children of a container.</summary>
    public bool IsSubcommand => Name.Contains('|');
}

/// <summary>Bytes that a command may take of the store beyond those of its arguments, about, as things are.</summary>
internal delegate long RoomNeeded(ref Call call);
