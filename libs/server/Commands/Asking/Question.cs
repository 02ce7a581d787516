using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>What rules are asked, beside the call itself.</summary>
/// <param name="asker">On whose behalf.</param>
/// <param name="entry">The command.</param>
/// <param name="flags">What it, or what it will run, is and may do.</param>
/// <param name="script">Of a script, or of the one that calls.</param>
internal readonly unsafe struct Question(Asker asker, CommandEntry* entry, CommandFlags flags, ScriptState script = ScriptState.None)
{
    internal readonly Asker Asker = asker;
    internal readonly CommandEntry* Entry = entry;
    internal readonly CommandFlags Flags = flags;
    internal readonly ScriptState Script = script;

    internal bool Is(CommandFlags any) => (Flags & any) != 0;

    internal bool Is(ScriptState any) => (Script & any) != 0;

    /// <summary>
    /// True if the command can wait for the server: for room, for another role. What a connection brings, or a script outside of a transaction; not what is woken, which
    /// somebody else serves.
    /// </summary>
    internal bool MayWait(ref Call call) => IsFor(Asker.Client | Asker.Queued) || (IsFor(Asker.Scripts) && call.MayPark);

    /// <summary>True if the command has not begun, so that it can wait for its keys and be asked about again: all but the call of a script.</summary>
    internal bool MayBePutOff => !IsFor(Asker.ScriptCall);

    internal bool IsFor(Asker any) => (Asker & any) != 0;
}
