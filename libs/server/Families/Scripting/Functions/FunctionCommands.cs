using System.Text;
using Garnet.Common.Resp;
using Garnet.Common;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Rdb;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Scripting.Functions;

/// <summary>FCALL and FUNCTION: functions in libraries, which are kept as data is.</summary>
internal static class FunctionCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<FCall>();
        table.Add<FCallRo>();
        table.AddContainer(new CommandSpec("FUNCTION", -2, CommandFlags.None) { Group = "scripting", Summary = "Libraries of functions.",
            Since = "7.0.0", Complexity = "Depends on subcommand." });
        table.Add<FunctionLoad>();
        table.Add<FunctionDelete>();
        table.Add<FunctionFlush>();
        table.Add<FunctionList>();
        table.Add<FunctionDumpAll>();
        table.Add<FunctionRestore>();
        table.Add<FunctionStats>();
        table.Add<FunctionKill>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary) =>
        ScriptCommands.Spec(name, arity, flags, syntax, summary) with { Since = "7.0.0" };

    internal static Reply Run(ref Call call, bool isReadOnly)
    {
        Function? function = ScriptHost.Of(call.Worker).Functions.Current().Find(call.Text(1));
        if (function is null)
            return call.FailBytes("ERR Function not found"u8);
        if (!call.TryInt64(2, out _))
            return call.FailBytes("ERR Bad number of keys provided"u8);
        if (!Evaluation.TryCountKeys(ref call, out int keys, out Reply failed))
            return failed;
        if (!Evaluation.MayBegin(ref call, function.Flags, isReadOnly, out Reply reply))
            return reply;
        if (call.Server.Monitoring.Monitors.Any)
            call.Server.Monitoring.Monitors.Feed(call.Client, call.Arguments, call.Server.Clock.UnixUs);
        var running = new Running(call.Client, function.Name, function.Flags, isReadOnly)
        {
            IsFunction = true,
            IsOrdered = function.IsOrdered,
            IsTight = MemoryRule.LacksForScript(ref call),
            BeganUs = call.Server.Clock.MonotonicUs,
        };
        return ScriptHost.Of(call.Worker).RunFunction(ref call, function.Reference, running, keys);
    }

    /// <summary>Puts a library into a set, in the place of one of the same name if that is allowed.</summary>
    internal static (List<byte[]>? Sources, string Error) With(FunctionSet set, IReadOnlyList<FunctionLibrary> added, bool replaces)
    {
        foreach (FunctionLibrary library in added)
        {
            if (!replaces && set.Library(library.Name) is not null)
                return (null, $"ERR Library '{library.Name}' already exists");
        }

        var kept = set.Libraries.Where(old => !added.Any(library => library.Name == old.Name)).ToList();
        foreach (Function function in added.SelectMany(static library => library.Functions))
        {
            if (kept.Exists(library => library.Functions.Exists(other =>
                string.Equals(other.Name, function.Name, StringComparison.OrdinalIgnoreCase))))
                return (null, $"ERR Function {function.Name} already exists");
        }

        return ([.. kept.Concat(added).Select(static library => library.Source)], "");
    }
}

internal readonly struct FCall : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Runs("FCALL", "function", CommandFlags.None, "7.0.0") with { Summary = "Calls a function." };

    public static Reply Run(ref Call call) => FunctionCommands.Run(ref call, isReadOnly: false);
}

internal readonly struct FCallRo : ICommand
{
    public static CommandSpec Spec => ScriptCommands.Runs("FCALL_RO", "function", CommandFlags.ReadOnly, "7.0.0") with { Summary = "Calls a function that only reads." };

    public static Reply Run(ref Call call) => FunctionCommands.Run(ref call, isReadOnly: true);
}

internal readonly struct FunctionLoad : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|LOAD", -3, CommandFlags.Write | CommandFlags.DenyOom, "[REPLACE] function-code", "Loads a library.");

    public static Reply Run(ref Call call)
    {
        bool replaces = call.Count > 3 && call.Is(2, "REPLACE"u8);
        if (call.Count > 3 && !replaces)
            return call.FailText("ERR Unknown option given: " + call.Text(2));
        if (call.Count > 4)
            return call.WrongSubcommandArity();
        FunctionHost functions = ScriptHost.Of(call.Worker).Functions;
        if (functions.TryLoad(call[call.Count - 1].ToArray(), out string error) is not { } library)
            return call.FailText(error);
        Reply reply = functions.Change(ref call, set => FunctionCommands.With(set, [library], replaces));
        functions.Forget([library]);
        if (reply == Reply.Sent)
            call.Out.Bulk(library.Name);
        return reply;
    }
}

internal readonly struct FunctionDelete : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|DELETE", 3, CommandFlags.Write, "library-name", "Deletes a library.");

    public static Reply Run(ref Call call)
    {
        string name = call.Text(2);
        Reply reply = ScriptHost.Of(call.Worker).Functions.Change(ref call, set => set.Library(name) is null
            ? (null, "ERR Library not found")
            : ([.. set.Libraries.Where(library => library.Name != name).Select(static library => library.Source)], ""));
        return reply == Reply.Sent ? call.Ok() : reply;
    }
}

internal readonly struct FunctionFlush : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|FLUSH", -2, CommandFlags.Write, "[ASYNC | SYNC]", "Deletes all libraries.");

    public static Reply Run(ref Call call)
    {
        if (call.Count > 3)
            return call.WrongSubcommandArity();
        if (call.Count == 3 && !call.Is(2, "ASYNC"u8) && !call.Is(2, "SYNC"u8))
            return call.FailBytes("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"u8);
        Reply reply = ScriptHost.Of(call.Worker).Functions.Change(ref call, static _ => ([], ""));
        return reply == Reply.Sent ? call.Ok() : reply;
    }
}

internal readonly struct FunctionList : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|LIST", -2, CommandFlags.None, "[LIBRARYNAME library-name-pattern] [WITHCODE]", "Lists libraries and their functions.") with { Tips = "nondeterministic_output_order", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        bool withCode = false;
        Glob? pattern = null;
        for (int i = 2; i < call.Count; i++)
        {
            if (!withCode && call.Is(i, "WITHCODE"u8))
                withCode = true;
            else if (pattern is null && call.Is(i, "LIBRARYNAME"u8) && i + 1 < call.Count)
                pattern = new Glob(call[++i].ToArray(), ignoreCase: true);
            else if (pattern is null && call.Is(i, "LIBRARYNAME"u8))
                return call.FailBytes("ERR library name argument was not given"u8);
            else
                return call.FailText("ERR Unknown argument " + call.Text(i));
        }

        List<FunctionLibrary> libraries = [.. ScriptHost.Of(call.Worker).Functions.Current()
            .Libraries.Where(library => pattern is null || pattern.Matches(Encoding.Latin1.GetBytes(library.Name)))];
        call.Out.Array(libraries.Count);
        foreach (FunctionLibrary library in libraries)
            Write(ref call, library, withCode);
        return Reply.Sent;
    }

    private static void Write(ref Call call, FunctionLibrary library, bool withCode)
    {
        call.Out.Map(withCode ? 4 : 3);
        call.Out.Bulk("library_name"u8);
        call.Out.Bulk(library.Name);
        call.Out.Bulk("engine"u8);
        call.Out.Bulk("LUA"u8);
        call.Out.Bulk("functions"u8);
        call.Out.Array(library.Functions.Count);
        foreach (Function function in library.Functions)
        {
            call.Out.Map(3);
            call.Out.Bulk("name"u8);
            call.Out.Bulk(function.Name);
            call.Out.Bulk("description"u8);
            if (function.Description is null)
                call.Out.Null();
            else
                call.Out.Bulk(Encoding.Latin1.GetBytes(function.Description));
            call.Out.Bulk("flags"u8);
            string[] flags = [.. Script.NamesOf(function.Flags)];
            call.Out.Set(flags.Length);
            foreach (string flag in flags)
                call.Out.Simple(Encoding.ASCII.GetBytes(flag));
        }

        if (!withCode)
            return;
        call.Out.Bulk("library_code"u8);
        call.Out.Bulk(library.Source);
    }
}

internal readonly struct FunctionDumpAll : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|DUMP", 2, CommandFlags.None, "", "Returns all libraries as bytes for FUNCTION RESTORE.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call) =>
        call.Bulk(FunctionDump.Write(ScriptHost.Of(call.Worker).Functions.Current().Libraries.Select(static library => library.Source)));
}

internal readonly struct FunctionRestore : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|RESTORE", -3, CommandFlags.Write | CommandFlags.DenyOom, "serialized-value [FLUSH | APPEND | REPLACE]", "Loads all libraries of a dump.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if (call.Count > 4)
            return call.WrongSubcommandArity();
        bool flushes = call.Count == 4 && call.Is(3, "FLUSH"u8), replaces = call.Count == 4 && call.Is(3, "REPLACE"u8);
        if (call.Count == 4 && !flushes && !replaces && !call.Is(3, "APPEND"u8))
            return call.FailBytes("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."u8);
        if (FunctionDump.Read(call[2]) is not { } sources)
            return call.Fail(Fault.DumpDamaged);
        FunctionHost functions = ScriptHost.Of(call.Worker).Functions;
        var loaded = new List<FunctionLibrary>();
        string error = "";
        foreach (byte[] source in sources)
        {
            if (error.Length == 0 && functions.TryLoad(source, out error) is { } library)
                loaded.Add(library);
        }

        Reply reply = error.Length > 0
            ? call.FailText(error)
            : functions.Change(ref call, set => FunctionCommands.With(flushes ? FunctionSet.Empty : set, loaded, replaces));
        functions.Forget(loaded);
        return reply == Reply.Sent ? call.Ok() : reply;
    }
}

internal readonly struct FunctionStats : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|STATS", 2, CommandFlags.AllowBusy, "", "Tells what runs and how many functions there are.") with { Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call)
    {
        Running? running = call.Server.Workers.RunningScript();
        if (running is { IsFunction: false })
            return call.FailBytes(FaultText.Busy(isFunction: false));
        FunctionSet set = ScriptHost.Of(call.Worker).Functions.Known(call.Server);
        call.Out.Map(2);
        call.Out.Bulk("running_script"u8);
        if (running is not null)
            WriteRunning(ref call, running);
        else
            call.Out.Null();
        call.Out.Bulk("engines"u8);
        call.Out.Map(1);
        call.Out.Bulk("LUA"u8);
        call.Out.Map(2);
        call.Out.Bulk("libraries_count"u8);
        call.Out.Int(set.Libraries.Count);
        call.Out.Bulk("functions_count"u8);
        call.Out.Int(set.Count);
        return Reply.Sent;
    }

    private static void WriteRunning(ref Call call, Running running)
    {
        call.Out.Map(3);
        call.Out.Bulk("name"u8);
        call.Out.Bulk(running.Name);
        call.Out.Bulk("command"u8);
        call.Out.Array(running.Command.Length);
        foreach (byte[] part in running.Command)
            call.Out.Bulk(part);
        call.Out.Bulk("duration_ms"u8);
        call.Out.Int((call.Server.Clock.MonotonicUs - running.BeganUs) / 1000);
    }
}

internal readonly struct FunctionKill : ICommand
{
    public static CommandSpec Spec => FunctionCommands.Spec("FUNCTION|KILL", 2, CommandFlags.AllowBusy, "", "Stops the function that runs, if it has written nothing.");

    public static Reply Run(ref Call call) => ScriptKill.Run(ref call, isFunction: true);
}
