using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Scripting;

/// <summary>EVAL and its kin, and SCRIPT.</summary>
internal static class ScriptCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Eval>();
        table.Add<EvalSha>();
        table.Add<EvalRo>();
        table.Add<EvalShaRo>();
        table.AddContainer(new CommandSpec("SCRIPT", -2, CommandFlags.None) { Group = "scripting", Summary = "Scripts in the cache.",
            Since = "2.6.0", Complexity = "Depends on subcommand." });
        table.Add<ScriptLoad>();
        table.Add<ScriptExists>();
        table.Add<ScriptFlush>();
        table.Add<ScriptShow>();
        table.Add<ScriptDebug>();
        table.Add<ScriptKill>();
    }

    internal static CommandSpec Runs(string name, string what, CommandFlags flags, string since)
    {
        bool reads = (flags & CommandFlags.ReadOnly) != 0;
        CommandFlags all = flags | CommandFlags.NoScript | CommandFlags.Stale | CommandFlags.SkipMonitor | CommandFlags.NoMandatoryKeys
            | CommandFlags.MovableKeys | CommandFlags.RunsScript;
        return new CommandSpec(name, -3, all, new KeySpec(3, 0, 1) { CountArg = 2, Usage = reads ? "RO ACCESS" : "RW ACCESS UPDATE" })
        {
            Group = "scripting",
            Syntax = what + " numkeys [key [key ...]] [arg [arg ...]]",
            Summary = reads ? "Runs a script that only reads." : "Runs a script on the server, as one step.",
            Since = since,
            Complexity = "Depends on the script that is executed.",
        };
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary) =>
        new(name, arity, flags | CommandFlags.NoScript) { Group = "scripting", Syntax = syntax, Summary = summary, Since = "2.6.0" };
}

internal readonly struct Eval : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Runs("EVAL", "script", CommandFlags.None, "2.6.0");

    public static Reply Run(ref Call call) => Evaluation.ByText(ref call, isReadOnly: false);
}

internal readonly struct EvalSha : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Runs("EVALSHA", "sha1", CommandFlags.None, "2.6.0");

    public static Reply Run(ref Call call) => Evaluation.ByName(ref call, isReadOnly: false);
}

internal readonly struct EvalRo : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Runs("EVAL_RO", "script", CommandFlags.ReadOnly, "7.0.0");

    public static Reply Run(ref Call call) => Evaluation.ByText(ref call, isReadOnly: true);
}

internal readonly struct EvalShaRo : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Runs("EVALSHA_RO", "sha1", CommandFlags.ReadOnly, "7.0.0");

    public static Reply Run(ref Call call) => Evaluation.ByName(ref call, isReadOnly: true);
}

internal readonly struct ScriptLoad : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Spec("SCRIPT|LOAD", 3, CommandFlags.Stale, "script", "Puts a script into the cache, to stay there.") with { Complexity = "O(N) in the length of the script." };

    public static Reply Run(ref Call call)
    {
        ScriptName name = ScriptName.Of(call[2]);
        Script? script = call.Server.Scripts.Find(name);
        if (script is not null)
            call.Server.Scripts.Add(script, isLoaded: true);
        else if (Evaluation.Load(ref call, name, 2, isLoaded: true, out Reply failed) is null)
            return failed;
        call.Out.Bulk(name.ToString());
        return Reply.Sent;
    }
}

internal readonly struct ScriptExists : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Spec("SCRIPT|EXISTS", -3, CommandFlags.None, "sha1 [sha1 ...]", "Tells which scripts are in the cache.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        call.Out.Array(call.Count - 2);
        for (int i = 2; i < call.Count; i++)
            call.Out.Int(ScriptName.TryRead(call[i], out ScriptName name) && call.Server.Scripts.Find(name) is not null ? 1 : 0);
        return Reply.Sent;
    }
}

internal readonly struct ScriptFlush : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Spec("SCRIPT|FLUSH", -2, CommandFlags.None, "[ASYNC | SYNC]", "Empties the cache.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if (call.Count > 3 || (call.Count == 3 && !call.Is(2, "ASYNC"u8) && !call.Is(2, "SYNC"u8)))
            return call.FailBytes("ERR SCRIPT FLUSH only support SYNC|ASYNC option"u8);
        call.Server.Scripts.Flush();
        return call.Ok();
    }
}

internal readonly struct ScriptShow : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Spec("SCRIPT|SHOW", 3, CommandFlags.None, "sha1", "Returns a script's text.") with { Since = "8.0.0" };

    public static Reply Run(ref Call call)
    {
        Script? script = ScriptName.TryRead(call[2], out ScriptName name) ? call.Server.Scripts.Find(name) : null;
        return script is null ? call.FailBytes(Evaluation.NoScript) : call.Bulk(script.Source);
    }
}

internal readonly struct ScriptDebug : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Spec("SCRIPT|DEBUG", 3, CommandFlags.None, "<YES | SYNC | NO>", "Refused: there is no debugger of scripts.") with { Since = "3.2.0" };

    public static Reply Run(ref Call call) =>
        call.Is(2, "NO"u8) ? call.Ok() : call.FailBytes("ERR the debugger of scripts is not supported"u8);
}

internal readonly struct ScriptKill : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Spec("SCRIPT|KILL", 2, CommandFlags.AllowBusy, "", "Stops the script that runs, if it has written nothing.");

    public static Reply Run(ref Call call) => Run(ref call, isFunction: false);

    internal static Reply Run(ref Call call, bool isFunction)
    {
        if (call.Server.Workers.RunningScript() is not { } running)
            return call.FailBytes("NOTBUSY No scripts in execution right now."u8);
        if (running.IsFunction != isFunction)
            return call.FailBytes(FaultText.Busy(running.IsFunction));
        if (running.HasWritten)
            return call.FailBytes("UNKILLABLE Sorry the script already executed write commands against the dataset. You can either "u8 +
                "wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."u8);
        running.IsKilled = true;
        return call.Ok();
    }
}
