using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Keys;

namespace Garnet.Server.Families.Transactions;

/// <summary>The commands of a queue as calls, one at a time: what one is made of is overwritten by the next.</summary>
internal sealed unsafe class QueuedCalls : IDisposable
{
    private readonly Executor _worker;
    private readonly int _select;
    private readonly ArgList _args = new();

    internal QueuedCalls(Executor worker)
    {
        _worker = worker;
        _select = worker.Server.Commands.FindByFullName("SELECT"u8);
    }

    /// <summary>The command as a call of the client.</summary>
    internal Call Of(Connection client, QueuedCommand* command)
    {
        QueuedCommand.Unpack(command, _args);
        return new Call(_worker, client, _args.Items, command->ArgCount, command->KeyHash);
    }

    /// <summary>The database in which the command behind this one will run: as SELECT will decide when it runs.</summary>
    internal int DatabaseAfter(Connection client, QueuedCommand* command, int database)
    {
        if (command->Command != _select)
            return database;
        Call call = Of(client, command);
        return DatabaseAfter(ref call, command->Command) ?? database;
    }

    /// <summary>The database in which a command behind this one will run, if this one decides that.</summary>
    internal int? DatabaseAfter(ref Call call, int command) =>
        command == _select && KeyCommands.NamesDatabase(ref call, 1, out int named) ? named : null;

    /// <summary>The last one is through.</summary>
    internal void Clear() => _args.Clear();

    /// <inheritdoc/>
    public void Dispose() => _args.Dispose();
}
