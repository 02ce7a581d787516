using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Lua;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Scripting;

/// <summary>
/// redis.call and redis.pcall: runs a command out of a script, with its arguments where Lua has them, and turns its reply into
/// values. What stands between a client and a command has been looked at when the script began, but for what depends on the command.
/// </summary>
internal sealed unsafe class CommandRun(Executor worker) : IDisposable
{
    private const int NumberBytes = 32;

    private static ReadOnlySpan<byte> Counted => "ignore_error_stats_update"u8;

    private readonly ArgList _args = new();
    private readonly CommandTable _commands = worker.Server.Commands;
    private readonly CommandFailures _failures = new(worker, worker.Server.Observers, worker.Server.Commands, worker.Server.Log);
    private byte* _numbers;
    private int _numbersRoom;

    /// <summary>Runs the command whose name and arguments are on the stack; pushes its reply, or nil and an error.</summary>
    internal int Call(LuaStack stack, Running? running)
    {
        if (running is null)
            return Fail(stack, "ERR redis.call/pcall can only be called inside a script invocation"u8);
        int count = stack.Count;
        if (count == 0)
            return Fail(stack, "ERR Please specify at least one argument for this redis lib call"u8);
        if (!TryTake(stack, count))
            return Fail(stack, "ERR Lua redis lib command arguments must be strings or integers"u8);
        int id = _commands.Find(_args.Items, count);
        CommandEntry* entry = _commands.Entries + id;
        ulong hash = entry->FirstKey > 0 && entry->FirstKey < count
            ? worker.Store.HashBytes(_args.Items[entry->FirstKey].Bytes, _args.Items[entry->FirstKey].Length)
            : 0;
        var call = new Call(worker, running.Client, _args.Items, count, hash);
        ReadOnlySpan<byte> refusal = AdmissionController.RefusalInScript(ref call, entry, StateOf(running));
        if (!refusal.IsEmpty)
        {
            Fail(stack, refusal);
            MarkCounted(stack);
            return 2;
        }

        return Run(ref call, entry, stack, running);
    }

    /// <summary>redis.acl_check_cmd: may the user of the script run the command whose name and arguments are on the stack?</summary>
    internal int MayCall(LuaStack stack, Running? running)
    {
        int count = stack.Count;
        if (count == 0)
            return stack.Fail("Please specify at least one argument for this redis.acl_check_cmd() call"u8, isPlaced: false);
        if (!TryTake(stack, count))
            return stack.Fail("Lua redis lib command arguments must be strings or integers"u8, isPlaced: false);
        CommandEntry* entry = _commands.Entries + _commands.Find(_args.Items, count);
        if (!entry->IsNamedBy(count))
            return stack.Fail("Invalid command passed to redis.acl_check_cmd()"u8, isPlaced: false);
        bool may = true;
        if (running is { Client: { User.Rights: { AllowsEverything: false } rights } client })
        {
            var call = new Call(worker, client, _args.Items, count, 0);
            may = RightsCheck.Of(ref call, entry, rights, client.Database).IsNone;
        }

        stack.Push(may);
        return 1;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _args.Dispose();
        NativeMemory.Free(_numbers);
        _numbers = null;
    }

    /// <summary>A number as a command gets it: so many digits that none is lost.</summary>
    internal static int Spell(double value, Span<byte> to)
    {
        if (value is > -1e17 and < 1e17 && value == Math.Truncate(value) && !(value == 0 && double.IsNegative(value)))
        {
            _ = ((long)value).TryFormat(to, out int digits, default, CultureInfo.InvariantCulture);
            return digits;
        }

        string text = double.IsNaN(value)
            ? "-nan"
            : double.IsInfinity(value) ? (value > 0 ? "inf" : "-inf")
            : value.ToString("G17", CultureInfo.InvariantCulture).Replace('E', 'e');
        return Encoding.ASCII.GetBytes(text, to);
    }

    private static int Fail(LuaStack stack, ReadOnlySpan<byte> text)
    {
        stack.PushNil();
        stack.NewTable(0, 1);
        stack.Push(text);
        stack.SetField("err"u8);
        return 2;
    }

    private bool TryTake(LuaStack stack, int count)
    {
        _args.Clear();
        if (_numbersRoom < count)
        {
            _numbersRoom = count * 2;
            _numbers = (byte*)NativeMemory.Realloc(_numbers, (nuint)(_numbersRoom * NumberBytes) + RespLimits.ReadableSlack);
        }

        for (int i = 1; i <= count; i++)
        {
            int type = stack.TypeAt(i);
            if (type == LuaType.String)
            {
                byte* at = stack.Pointer(i, out int length);
                _args.Add(at, length);
            }
            else if (type == LuaType.Number)
            {
                byte* at = _numbers + ((i - 1) * NumberBytes);
                _args.Add(at, Spell(stack.Number(i), new Span<byte>(at, NumberBytes)));
            }
            else
            {
                return false;
            }
        }

        return true;
    }

    private static ScriptState StateOf(Running running) =>
        (running.IsReadOnly ? ScriptState.ReadOnly : ScriptState.None)
        | (running.HasWritten ? ScriptState.HasWritten : ScriptState.None)
        | (running.IsOrdered ? ScriptState.IsOrdered : ScriptState.None)
        | (running.IsTight && (running.Flags & ScriptFlags.AllowOom) == 0 ? ScriptState.LacksMemory : ScriptState.None);

    private int Run(ref Call call, CommandEntry* entry, LuaStack stack, Running running)
    {
        Connection client = call.Client;
        if ((entry->Flags & CommandFlags.Write) != 0)
            running.HasWritten = true;
        client.LastCommand = entry->Id;
        RespWriter to = call.Out;
        to.Resp3 = running.WantsResp3; // what a client gets beside its replies is in its own protocol
        long before = to.Mark;
        ServerContext server = worker.Server;
        bool plain = !server.AsksRules && (entry->Flags & CommandFlags.Timed) == 0 && (client.Modes & ClientModes.Tracking) == 0
            && !server.Replication.Access.ChecksReads;
        long waited = call.Session.Tier?.Waited ?? 0;
        Reply reply = _failures.RunForScript(ref call, entry, plain, out bool hasRoom);
        Garnet.Common.Faults.Check.That(reply is not (Reply.Parked or Reply.Postponed), "transactions.X5 nothing waits in a script");
        if (reply == Reply.Failed)
            Execution.CountFailure(worker, entry->Id);
        if (!hasRoom)
            return LacksMemory(stack);
        if (to.Mark == before)
            to.Null(); // a command that replies nothing
        int results = Take(stack, to.Start + before, to.Position);
        to.TakeBackTo(before);
        if (call.Session.Tier is { } tier && tier.Waited != waited)
            LuaState.Look(stack); // lua.L7: it has stood still, which no count of its steps tells
        if (results == 2 && stack.IsTable(-1))
            MarkCounted(stack);
        return results;
    }

    /// <summary>True if the error on top has been counted when the command failed: a script that ends with it is no other error.</summary>
    internal static bool IsCounted(LuaStack stack)
    {
        if (!stack.IsTable(-1))
            return false;
        bool isCounted = stack.Field(-1, Counted) == LuaType.Boolean;
        stack.Drop(1);
        return isCounted;
    }

    // As Redis does, where a script can see it too.
    private static void MarkCounted(LuaStack stack)
    {
        stack.Push(true);
        stack.SetField(Counted);
    }

    private static int Take(LuaStack stack, byte* start, byte* end)
    {
        bool isError = *start == '-';
        stack.SetCount(0); // the command has run
        if (isError)
            stack.PushNil();
        return !new ReplyToLua(start, end, stack).TryPush() ? LacksMemory(stack) : isError ? 2 : 1;
    }

    // As where the script itself wants too much; the command has run.
    private static int LacksMemory(LuaStack stack)
    {
        stack.SetCount(0);
        return stack.Fail("not enough memory"u8, isPlaced: false);
    }
}
