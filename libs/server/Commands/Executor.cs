using Garnet.Media;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Tiering;

namespace Garnet.Server.Commands;

/// <summary>A worker as commands see it: with the server's machineries, and what it keeps for its commands of some of them.</summary>
internal abstract class Executor : Worker, IReadyWorker
{
    private protected Executor(ServerContext server, int index, IServeRule serving, ReaderWake wake)
        : base(server.Store, index, server.Commands.Specs.Count, wake)
    {
        Server = server;
        Ready = new ReadyKeys(this, server.Observers.Waits, server.ScriptTurns, server.Observers.Changes, serving);
    }

    /// <summary>The machineries of the server.</summary>
    internal ServerContext Server { get; }

    /// <inheritdoc/>
    public ReadyKeys Ready { get; }

    /// <summary>MULTI and EXEC.</summary>
    internal abstract ITransactions Transactions { get; }

    /// <summary>Scripts and functions.</summary>
    internal abstract IScripts Scripts { get; }

    /// <summary>True once somebody has asked for them: they are made then. From any thread.</summary>
    internal abstract bool HasScripts { get; }

    /// <summary>The change of users (<see cref="Rights.Users.Changes"/>) that its connections have been judged by.</summary>
    internal long RightsSeen { get; set; }

    /// <summary>True if users have changed since its connections were judged.</summary>
    internal bool HasOldRights => RightsSeen != Server.Rights.Users.Changes;

    /// <summary>What its commands draw by chance.</summary>
    internal CommandDraws Draws { get; } = new();

    /// <summary>Its clients that wait for room in memory.</summary>
    internal RoomLine RoomLine { get; } = new();

    /// <summary>Notes what lies on the tier of what the client has sent behind its running command; null: there is no tier.</summary>
    internal Action<Connection>? LooksBehind { get; set; }

    /// <summary>A round begins: its commands, and its session, have one time.</summary>
    private protected void TakeTime() => Session.NowMs = NowMs = Server.Clock.UnixMs;
}
