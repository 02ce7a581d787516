using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Server.Net;
using Garnet.Server.Scripting.Lua;

namespace Garnet.Server.Scripting;

/// <summary>
/// redis.call and redis.pcall: runs a command out of a script, with its arguments where Lua has them, and turns its reply into
/// values. What stands between a client and a command has been looked at when the script began, but for what depends on the command.
/// </summary>
internal sealed unsafe class CommandRun(Reactor reactor) : IDisposable
{
    private const int NumberBytes = 32;

    private static ReadOnlySpan<byte> Counted => "ignore_error_stats_update"u8;

    private readonly ArgList _args = new();
    private readonly CommandTable _commands = reactor.Server.Commands;
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
        ulong hash = entry->FirstKey > 0 && entry->FirstKey < count ? reactor.Store.HashBytes(_args.Items[entry->FirstKey].Bytes, _args.Items[entry->FirstKey].Length) : 0;
        var call = new Call(reactor, running.Client, _args.Items, count, hash);
        ReadOnlySpan<byte> refusal = Refusal(ref call, entry, running);
        if (!refusal.IsEmpty)
        {
            reactor.Figures.Rejected[id]++;
            reactor.Figures.CountError(refusal);
            Fail(stack, refusal);
            MarkCounted(stack);
            return 2;
        }

        return Run(ref call, entry, stack, running);
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

        string text = double.IsNaN(value) ? "-nan" : double.IsInfinity(value) ? (value > 0 ? "inf" : "-inf") : value.ToString("G17", CultureInfo.InvariantCulture).Replace('E', 'e');
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
            if (type == LuaApi.String)
            {
                byte* at = stack.Pointer(i, out int length);
                _args.Add(at, length);
            }
            else if (type == LuaApi.Number)
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

    /// <summary>Why the command must not run; empty if it may.</summary>
    private ReadOnlySpan<byte> Refusal(ref Call call, CommandEntry* entry, Running running)
    {
        CommandFlags flags = entry->Flags;
        if (entry->Id == 0)
            return "ERR Unknown Redis command called from script"u8;
        if ((flags & CommandFlags.Container) != 0 && call.Count > 1)
            return "ERR Unknown Redis command called from script"u8;
        if ((uint)(call.Count - entry->ArgsMin) > entry->ArgsSpan)
            return "ERR Wrong number of args calling Redis command from script"u8;
        if ((flags & CommandFlags.NoScript) != 0)
            return "ERR This Redis command is not allowed from script"u8;
        if ((flags & (CommandFlags.Write | CommandFlags.MayReplicate | CommandFlags.DenyOom | CommandFlags.Stale | CommandFlags.Protected)) != CommandFlags.Stale)
            return RareRefusal(ref call, flags, running);
        return default;
    }

    private ReadOnlySpan<byte> RareRefusal(ref Call call, CommandFlags flags, Running running)
    {
        Server server = reactor.Server;
        if ((flags & CommandFlags.Protected) != 0 && !server.AllowsProtected(call.Client, _commands.Specs[_commands.Find(call.Args, call.Count)], out string refusal))
            return Encoding.Latin1.GetBytes(refusal);
        if ((flags & (CommandFlags.Write | CommandFlags.MayReplicate)) != 0 && running.IsReadOnly)
            return "ERR Write commands are not allowed from read-only scripts."u8;
        if ((flags & CommandFlags.Write) != 0)
        {
            if ((flags & CommandFlags.WholeDatabases) != 0 && running.HasWritten && !running.IsOrdered)
                return "ERR a script that changes whole databases after other changes must spell FLUSHALL, FLUSHDB or SWAPDB in its text or arguments"u8;
            ReadOnlySpan<byte> refused = server.Replication.RefusalOfWrite();
            if (refused.IsEmpty && !running.HasWritten && server.Keeper is { } log)
                refused = log.RefusalOfWrite();
            if (!refused.IsEmpty)
                return refused;
        }

        if ((flags & CommandFlags.DenyOom) != 0 && running.IsTight && !running.HasWritten && (running.Flags & ScriptFlags.AllowOom) == 0)
            return server.Refusals.Noted(Inspect.RefusalCause.Memory);
        return default;
    }

    private int Run(ref Call call, CommandEntry* entry, LuaStack stack, Running running)
    {
        Connection client = call.Client;
        if ((entry->Flags & CommandFlags.Write) != 0)
            running.HasWritten = true;
        client.LastCommand = entry->Id;
        RespWriter to = call.Out;
        to.Resp3 = running.WantsResp3; // what a client gets beside its replies is in its own protocol
        nint before = (nint)(to.Position - client.SegmentStart);
        Server server = reactor.Server;
        bool plain = !server.Guarded && (entry->Flags & CommandFlags.Timed) == 0 && (client.Gate & Gate.Tracking) == 0 && !server.Replication.ChecksReads;
        Reply reply = reactor.Failures.RunPart(ref call, entry, plain);
        if (plain)
            reactor.Figures.Calls[entry->Id]++;

        Garnet.Common.Faults.Check.That(reply is not (Reply.Parked or Reply.Postponed), "X5 nothing waits in a script");
        if (reply == Reply.Failed)
            reactor.Figures.Failed[entry->Id]++;
        byte* start = client.SegmentStart + before;
        if (to.Position == start)
            to.Null(); // a command that replies nothing
        int results = Take(stack, start, to.Position);
        to.Position = client.SegmentStart + before;
        if (results == 2 && stack.IsTable(-1))
            MarkCounted(stack);
        return results;
    }

    /// <summary>True if the error on top has been counted when the command failed: a script that ends with it is no other error.</summary>
    internal static bool IsCounted(LuaStack stack)
    {
        if (!stack.IsTable(-1))
            return false;
        bool isCounted = stack.Field(-1, Counted) == LuaApi.Boolean;
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
        if (!new ReplyToLua(start, end, stack).TryPush())
            return stack.Fail("not enough memory"u8, isPlaced: false);
        return isError ? 2 : 1;
    }
}
