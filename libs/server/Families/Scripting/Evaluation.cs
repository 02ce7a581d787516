using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Scripting;

/// <summary>From a command that runs a script or function to its run: which one, its keys, and whether it may run now.</summary>
internal static class Evaluation
{
    private const string Uncompiled = "ERR Error compiling script (new function): ";

    /// <summary>What is said of a script's name that the cache does not have.</summary>
    internal static ReadOnlySpan<byte> NoScript => "NOSCRIPT No matching script. Please use EVAL."u8;

    /// <summary>EVAL: the text stands in the command.</summary>
    internal static Reply ByText(ref Call call, bool isReadOnly)
    {
        if (!TryCountKeys(ref call, out int keys, out Reply failed))
            return failed;
        ScriptName name = ScriptHost.Of(call.Worker).Names.Of(ref call, 1);
        Script? script = call.Server.Scripts.Find(name) ?? Load(ref call, name, 1, isLoaded: false, out failed);
        return script is null ? failed : Run(ref call, script, keys, isReadOnly);
    }

    /// <summary>EVALSHA: its name stands in the command.</summary>
    internal static Reply ByName(ref Call call, bool isReadOnly)
    {
        if (!TryCountKeys(ref call, out int keys, out Reply failed))
            return failed;
        Script? script = ScriptName.TryRead(call[1], out ScriptName name) ? call.Server.Scripts.Find(name) : null;
        return script is null ? call.FailBytes(NoScript) : Run(ref call, script, keys, isReadOnly);
    }

    /// <summary>Reads and compiles the script in an argument and puts it into the cache; null with what was answered.</summary>
    internal static Script? Load(ref Call call, ScriptName name, int argument, bool isLoaded, out Reply failed)
    {
        failed = Reply.Failed;
        Script? script = Script.Read(name, call[argument], out string error);
        if (script is null)
        {
            call.FailText(error);
            return null;
        }

        if (ScriptHost.Of(call.Worker).Compile(script, out error) == 0)
        {
            call.FailText(Uncompiled + error);
            return null;
        }

        return call.Server.Scripts.Add(script, isLoaded);
    }

    /// <summary>The number of keys, the second argument; on false the error has been written.</summary>
    internal static bool TryCountKeys(ref Call call, out int keys, out Reply failed)
    {
        failed = Reply.Sent;
        keys = 0;
        if (!call.TryInt64(2, out long count))
            failed = call.Fail(Fault.NotAnInteger);
        else if (count > call.Count - 3)
            failed = call.Fail(Fault.MoreKeysThanArguments);
        else if (count < 0)
            failed = call.FailBytes("ERR Number of keys can't be negative"u8);
        else
            keys = (int)count;
        return failed == Reply.Sent;
    }

    /// <summary>False if something stands between the script and its run, with what was answered.</summary>
    internal static bool MayBegin(ref Call call, ScriptFlags flags, bool isReadOnly, out Reply reply)
    {
        bool declares = (flags & ScriptFlags.HasShebang) != 0;
        bool writes = (flags & ScriptFlags.NoWrites) == 0 && (declares || !isReadOnly);
        CommandFlags does = CommandFlags.Loading
            | (writes ? CommandFlags.Write : CommandFlags.None)
            | ((flags & ScriptFlags.AllowStale) != 0 ? CommandFlags.Stale : CommandFlags.None)
            | (writes && (flags & ScriptFlags.AllowOom) == 0 ? CommandFlags.DenyOom : CommandFlags.None);
        ScriptState state = isReadOnly ? ScriptState.ReadOnly : ScriptState.None;
        if (!AdmissionController.MayBegin(ref call, does, state, declares, out reply))
            return false;
        // What it is given it may well write, and once it runs no room is made: if there is none then, the command in it says so.
        if (writes)
            call.Session.Room.Demand(call.RequestBytes());
        return true;
    }

    private static Reply Run(ref Call call, Script script, int keys, bool isReadOnly)
    {
        if (!MayBegin(ref call, script.Flags, isReadOnly, out Reply reply))
            return reply;
        int number = ScriptHost.Of(call.Worker).Compile(script, out string error);
        if (number == 0)
            return call.FailText(Uncompiled + error);
        if (call.Server.Monitoring.Monitors.Any)
            call.Server.Monitoring.Monitors.Feed(call.Client, call.Arguments, call.Server.Clock.UnixUs); // before what it runs
        var running = new Running(call.Client, script.Text, script.Flags, isReadOnly)
        {
            IsTight = MemoryRule.LacksForScript(ref call),
            IsOrdered = script.IsOrdered,
            BeganUs = call.Server.Clock.MonotonicUs,
        };
        return ScriptHost.Of(call.Worker).Run(ref call, number, running, 3, keys);
    }
}
