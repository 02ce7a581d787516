using Garnet.Common.Faults;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Families.Sessions;

/// <summary>The connection itself: PING, ECHO, AUTH, HELLO, RESET, QUIT.</summary>
internal static class ConnectionCommands
{
    internal const CommandFlags Always = CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast;

    /// <summary>What is said of a name that is none (<see cref="IsName"/>).</summary>
    internal static ReadOnlySpan<byte> NoName => "ERR Client names cannot contain spaces, newlines or special characters."u8;

    internal static void Register(CommandTable table)
    {
        table.Add<Ping>();
        table.Add<Echo>();
        table.Add<Auth>();
        table.Add<Hello>();
        table.Add<Reset>();
        table.Add<Quit>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary, string since = "1.0.0") =>
        new(name, arity, flags) { Group = "connection", Syntax = syntax, Summary = summary, Since = since };

    /// <summary>The user of that name, if the password is right; else null, and the refusal is noted.</summary>
    internal static User? Authenticate(ref Call call, ReadOnlySpan<byte> name, ReadOnlySpan<byte> password)
    {
        (ServerContext server, Connection client) = (call.Server, call.Client);
        if (server.Rights.Users.Authenticate(name, password) is { } user)
        {
            Audited.LoggedIn(ref call, name, isRight: true);
            return user;
        }

        Audited.LoggedIn(ref call, name, isRight: false);
        string said = RuleText.Of(name[..Math.Min(name.Length, DenialLog.ObjectBytesMax)]);
        DenialPlace place = (client.Modes & ClientModes.Transaction) != 0 ? DenialPlace.Multi : DenialPlace.TopLevel;
        var denial = new Denial(DenialReason.Auth, place, RuleText.Of(call[0]), said)
        {
            UnixMs = call.NowMs,
            Client = ClientLine.Of(client, server),
        };
        server.Rights.Denials.Add(denial);
        return null;
    }

    /// <summary>Bytes of a client's or a library's name at most: they stand in memory that no limit counts, and in every line of CLIENT LIST.</summary>
    internal const int NameBytesMax = 65_536;

    internal static void RefuseLong(ReadOnlySpan<byte> name, string what) => TooLargeException.Above(NameBytesMax, name.Length, what);

    /// <summary>True if the text may be a client name: printable ASCII without blanks.</summary>
    internal static bool IsName(ReadOnlySpan<byte> text) => text.IndexOfAnyExceptInRange((byte)'!', (byte)'~') < 0;
}

internal readonly struct Ping : ICommand
{
    public static CommandSpec Spec => ConnectionCommands.Spec("PING", -1, CommandFlags.Fast | CommandFlags.WhileSubscribed, "[message]", "Answers, to show that the server is there.");

    public static Reply Run(ref Call call)
    {
        if (call.Count > 2)
            return call.WrongArity();
        if ((call.Client.Modes & ClientModes.Subscribed) != 0 && !call.Client.Resp3)
        {
            call.Out.Array(2);
            call.Out.Bulk("pong"u8);
            return call.Bulk(call.Count == 2 ? call[1] : default);
        }

        if (call.Count == 2)
            return call.Bulk(call[1]);
        call.Out.Raw("+PONG\r\n"u8);
        return Reply.Sent;
    }
}

internal readonly struct Echo : ICommand
{
    public static CommandSpec Spec => ConnectionCommands.Spec("ECHO", 2, ConnectionCommands.Always, "message", "Returns the message.");

    public static Reply Run(ref Call call) => call.Bulk(call[1]);
}

internal readonly struct Auth : ICommand
{
    public static CommandSpec Spec => ConnectionCommands.Spec("AUTH", -2, ConnectionCommands.Always | CommandFlags.AllowBusy | CommandFlags.NoAuth | CommandFlags.NoScript | CommandFlags.SkipSlowlog, "[username] password", "Authenticates the connection.");

    public static Reply Run(ref Call call)
    {
        if (call.Count > 3)
            return call.Fail(Fault.Syntax);
        if (call.Count == 2 && call.Server.Rights.Users.Default.Rights.NeedsNoPassword)
            return call.FailBytes("ERR AUTH <password> called without any password configured for the default user. Are you sure your "u8 +
                "configuration is correct?"u8);
        if (ConnectionCommands.Authenticate(ref call, call.Count == 3 ? call[1] : "default"u8, call[call.Count - 1]) is not { } user)
            return call.Fail(Fault.WrongPassword);
        ClientRights.Become(call.Server, call.Client, user);
        return call.Ok();
    }
}

/// <summary>HELLO: protocol version, authentication and name in one, all or nothing.</summary>
internal readonly struct Hello : ICommand
{
    public static CommandSpec Spec => ConnectionCommands.Spec("HELLO", -1, ConnectionCommands.Always | CommandFlags.AllowBusy | CommandFlags.NoAuth | CommandFlags.NoScript | CommandFlags.SkipSlowlog, "[protover [AUTH username password] [SETNAME clientname]]", "Chooses the protocol version and tells about the server.", "6.0.0");

    public static Reply Run(ref Call call)
    {
        bool resp3 = call.Client.Resp3;
        int auth = 0, name = 0;
        if (call.Count > 1)
        {
            if (!call.TryInt64(1, out long version))
                return call.FailBytes("ERR Protocol version is not an integer or out of range"u8);
            if (version is not (2 or 3))
                return call.FailBytes("NOPROTO unsupported protocol version"u8);
            resp3 = version == 3;
            if (!TryOptions(ref call, ref auth, ref name, out Reply failed))
                return failed;
        }

        User? user = auth > 0 ? ConnectionCommands.Authenticate(ref call, call[auth], call[auth + 1]) : null;
        if (auth > 0 && user is null)
            return call.Fail(Fault.WrongPassword);
        if (auth == 0 && (call.Client.Modes & ClientModes.Unauthenticated) != 0)
            return call.FailBytes("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> "u8 +
                "<pass> option can be used to authenticate the client and select the RESP protocol version at the same time"u8);
        if (name > 0 && !ConnectionCommands.IsName(call[name]))
            return call.FailBytes(ConnectionCommands.NoName);
        if (name > 0)
            ConnectionCommands.RefuseLong(call[name], "a client's name");
        if (user is not null)
            ClientRights.Become(call.Server, call.Client, user);
        if (name > 0)
            call.Client.Name = call.Text(name);
        call.Client.Resp3 = resp3;
        call.Out.Resp3 = resp3;
        Describe(ref call);
        return Reply.Sent;
    }

    private static bool TryOptions(ref Call call, ref int auth, ref int name, out Reply failed)
    {
        for (int i = 2; i < call.Count; i++)
        {
            if (call.Is(i, "AUTH"u8) && i + 2 < call.Count)
            {
                auth = i + 1;
                i += 2;
            }
            else if (call.Is(i, "SETNAME"u8) && i + 1 < call.Count)
            {
                name = ++i;
            }
            else
            {
                failed = call.FailBytes([.. "ERR Syntax error in HELLO option '"u8, .. call.Shown(i), (byte)'\'']);
                return false;
            }
        }

        failed = Reply.Sent;
        return true;
    }

    private static void Describe(ref Call call)
    {
        call.Out.Map(7);
        call.Out.Bulk("server"u8);
        call.Out.Bulk("redis"u8); // client libraries switch features by this name
        call.Out.Bulk("version"u8);
        call.Out.Bulk(call.Server.Settings.Inspect.RedisVersion);
        call.Out.Bulk("proto"u8);
        call.Out.Int(call.Client.Resp3 ? 3 : 2);
        call.Out.Bulk("id"u8);
        call.Out.Int(call.Client.Id);
        call.Out.Bulk("mode"u8);
        call.Out.Bulk("standalone"u8);
        call.Out.Bulk("role"u8);
        call.Out.Bulk(call.Server.Replication.IsReplica ? "replica"u8 : "master"u8);
        call.Out.Bulk("modules"u8);
        call.Out.Array(0);
    }
}

internal readonly struct Reset : ICommand
{
    public static CommandSpec Spec => ConnectionCommands.Spec("RESET", 1, ConnectionCommands.Always | CommandFlags.Immediate | CommandFlags.AllowBusy | CommandFlags.NoAuth | CommandFlags.NoScript | CommandFlags.WhileSubscribed, "", "Puts the connection back to its first state.", "6.2.0");

    public static Reply Run(ref Call call)
    {
        Connection client = call.Client;
        call.Server.Observers.Channels.Forget(client);
        call.Server.Monitoring.Monitors.Remove(client);
        call.Server.Observers.Tracker.Disable(client);
        call.Server.Observers.Watches.EndTransaction(client);
        client.LeaveBulk("its connection was reset");
        client.Modes &= ClientModes.ReplySkipped; // of this very command, as in Redis
        ClientRights.BeDefault(call.Server, client);
        client.Resp3 = false;
        client.NoEvict = false;
        client.NoTouch = false;
        client.ReadsAnyState = false;
        client.Sync = null;
        client.Database = 0;
        client.Name = "";
        call.Out.Resp3 = false;
        call.Out.Simple("RESET"u8);
        return Reply.Sent;
    }
}

internal readonly struct Quit : ICommand
{
    public static CommandSpec Spec => ConnectionCommands.Spec("QUIT", -1, ConnectionCommands.Always | CommandFlags.Immediate | CommandFlags.AllowBusy | CommandFlags.NoAuth | CommandFlags.NoScript | CommandFlags.WhileSubscribed, "", "Closes the connection.");

    public static Reply Run(ref Call call)
    {
        call.Out.Ok();
        return Reply.Close;
    }
}
