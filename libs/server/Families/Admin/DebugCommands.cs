using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Inspect;
using Garnet.Rdb;
using Tsavorite;

namespace Garnet.Server.Families.Admin;

/// <summary>DEBUG: the harmless part, for tests; behind <c>enable-debug-command</c>.</summary>
internal static class DebugCommands
{
    internal static unsafe void Register(CommandTable table)
    {
        table.AddContainer(Spec("DEBUG", -2, "", "Helps tests."));
        table.Add<DebugSleep>();
        table.Add<DebugCheck>();
        table.Add<DebugSetActiveExpire>();
        table.Add<DebugObject>();
        table.Add<DebugProtocol>();
    }

    internal static CommandSpec Spec(string name, int arity, string syntax, string summary) =>
        new(name, arity, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Protected)
        {
            Group = "server",
            Syntax = syntax,
            Summary = summary,
            TellsArityTogether = true,
        };
}

/// <summary>Holds this connection for a time; others go on, since nothing here may stop a reactor.</summary>
internal readonly struct DebugSleep : ICommand
{
    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|SLEEP", 3, "seconds", "Answers after a time.");

    public static Reply Run(ref Call call)
    {
        if (!Garnet.Common.Bytes.NumberText.TryDouble(call[2], out double seconds) || seconds is < 0 or > 86_400)
            return call.Fail(Fault.NotAFloat);
        if (!call.MayPark)
            return call.Ok();
        call.Worker.Park(call.Client, new Sleep(call.NowMs + (long)(seconds * 1000)));
        return Reply.Parked;
    }

    private sealed class Sleep : Parking
    {
        internal Sleep(long untilMs) => DeadlineMs = untilMs;

        internal override bool Resume(Worker worker, Connection client)
        {
            worker.Out.Ok();
            return true;
        }
    }
}

internal readonly struct DebugCheck : ICommand
{
    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|CHECK", 2, "", "Walks the store and returns the broken invariants: none.");

    public static Reply Run(ref Call call)
    {
        IReadOnlyList<string> broken = Tsavorite.StoreCheck.Run(call.Server.Store);
        call.Out.Array(broken.Count);
        foreach (string line in broken)
            call.Out.Bulk(line);
        return Reply.Sent;
    }
}

internal readonly struct DebugSetActiveExpire : ICommand
{
    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|SET-ACTIVE-EXPIRE", 3, "<0 | 1>", "Switches the removal of expired keys in the background.");

    public static Reply Run(ref Call call)
    {
        if (call.Server.Replication.Change.Own.Decides) // else nothing expires, whatever is asked for
            call.Worker.Store.PauseExpiry(!call.TryInt64(2, out long on) || on == 0);
        return call.Ok();
    }
}

/// <summary>How a value is kept and what it takes in a dump; there is no address, and no time of the last use.</summary>
internal readonly struct DebugObject : ICommand
{
    private const int TypeBytes = 1;

    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|OBJECT", 3, "key", "Shows how a value is kept.");

    public static Reply Run(ref Call call)
    {
        ReadOnlySpan<byte> encoding = ObjectEncoding.Of(ref call, 2);
        if (encoding.IsEmpty)
            return call.Fail(Fault.NoSuchKey);
        KeyRef key = call.KeyAt(2);
        var encoder = default(RdbEncoder);
        call.Session.Examine(in key, ref encoder, quiet: true);
        int bytes = Math.Max(encoder.To.Bytes.Count - TypeBytes, 0);
        encoder.To.Bytes.Free();
        call.Out.Simple(Encoding.ASCII.GetBytes($"Value at:0x0 refcount:1 encoding:{Encoding.ASCII.GetString(encoding)} " +
            $"serializedlength:{bytes} lru:0 lru_seconds_idle:0"));
        return Reply.Sent;
    }
}

/// <summary>One reply of each type, for who writes a client.</summary>
internal readonly struct DebugProtocol : ICommand
{
    private const int Items = 3;

    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|PROTOCOL", -2, "<string | integer | double | bignum | null | array | set | map | attrib | push | verbatim | true | false>", "Answers with the type of reply that is named.");

    public static Reply Run(ref Call call)
    {
        if (call.Count != 3)
            return Containers.RefuseUnknown(ref call);
        return call.Text(2).ToLowerInvariant() switch
        {
            "string" => call.Bulk("Hello World"u8),
            "integer" => call.Int(12345),
            "double" => Double(ref call),
            "null" => call.Null(),
            "array" => Array(ref call),
            "set" => Set(ref call),
            "map" => Map(ref call),
            "attrib" => Attribute(ref call),
            "push" => Push(ref call),
            "verbatim" => Verbatim(ref call),
            "true" => Bool(ref call, value: true),
            "false" => Bool(ref call, value: false),
            "bignum" => BigNumber(ref call),
            _ => call.FailBytes("ERR Wrong protocol type name. Please use one of the following: "u8 +
                "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false"u8),
        };
    }

    private static Reply Double(ref Call call)
    {
        call.Out.Double(3.141);
        return Reply.Sent;
    }

    private static Reply Array(ref Call call)
    {
        call.Out.Array(Items);
        return Numbers(ref call);
    }

    private static Reply Set(ref Call call)
    {
        call.Out.Set(Items);
        return Numbers(ref call);
    }

    private static Reply Numbers(ref Call call)
    {
        for (int i = 0; i < Items; i++)
            call.Out.Int(i);
        return Reply.Sent;
    }

    private static Reply Map(ref Call call)
    {
        call.Out.Map(Items);
        for (int i = 0; i < Items; i++)
        {
            call.Out.Int(i);
            call.Out.Bool(i == 1);
        }

        return Reply.Sent;
    }

    private static Reply Attribute(ref Call call)
    {
        if (call.Out.Resp3)
        {
            call.Out.Raw("|1\r\n"u8);
            call.Out.Bulk("key-popularity"u8);
            call.Out.Array(2);
            call.Out.Bulk("key:123"u8);
            call.Out.Int(90);
        }

        return call.Bulk("Some real reply following the attribute"u8);
    }

    private static Reply Push(ref Call call)
    {
        if (!call.Out.Resp3)
            return call.FailBytes("ERR RESP2 is not supported by this command"u8);
        call.Out.Push(2);
        call.Out.Bulk("server-cpu-usage"u8);
        call.Out.Int(42);
        return call.Bulk("Some real reply following the push reply"u8);
    }

    private static Reply Verbatim(ref Call call)
    {
        call.Out.Verbatim("This is a verbatim\nstring"u8);
        return Reply.Sent;
    }

    private static Reply Bool(ref Call call, bool value)
    {
        call.Out.Bool(value);
        return Reply.Sent;
    }

    private static Reply BigNumber(ref Call call)
    {
        ReadOnlySpan<byte> number = "1234567999999999999999999999999999999"u8;
        if (!call.Out.Resp3)
            return call.Bulk(number);
        call.Out.Raw([(byte)'(', .. number, (byte)'\r', (byte)'\n']);
        return Reply.Sent;
    }
}
