using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Transactions;

/// <summary>
/// The locks of a transaction: the keys that its commands declare, and those it watches, are gathered, and the locks of their partitions taken in
/// ascending order (store.U6).
///
/// transactions.X4  A transaction in which some command may touch more than the keys it declares, in the connection's database, takes all
///     locks (<see cref="StoreSession.LockAll"/>); a command that belongs to connections or messages touches none.
/// transactions.X7  Room for what the commands will take is found before the first of them runs, or none runs; none of them is refused memory then, unless
///     it takes far more than was thought (store.U20).
/// </summary>
internal sealed unsafe class TransactionLocks
{
    private const int PlansMax = 3;

    private readonly Store _store;
    private readonly StoreSession _session;
    private readonly QueuedCalls _calls;
    private readonly IReadOnlyList<CommandSpec> _specs;
    private readonly Reach[] _reaches;

    internal TransactionLocks(Executor worker, QueuedCalls calls)
    {
        (_store, _session, _calls, _specs) = (worker.Store, worker.Session, calls, worker.Server.Commands.Specs);
        _reaches = new Reach[_specs.Count];
        for (int id = 0; id < _reaches.Length; id++) _reaches[id] = ReachOf(_specs[id]);
    }

    /// <summary>What of the store a command may touch.</summary>
    private enum Reach : byte
    {
        Nothing,
        Keys,
        Everything,
    }

    /// <summary>Takes them. The partitions follow from what the databases stand for; if that changed before they were locked, once more.</summary>
    internal void Take(Connection client, Transaction transaction)
    {
        for (int plans = 0; plans < PlansMax; plans++)
        {
            long changes = _store.Namespaces.Changes;
            if (!TryPlan(client, transaction))
                break;
            AssureRoom(transaction);
            _session.LockWanted();
            if (_store.Namespaces.Changes == changes)
                return;
            _session.Unlock();
        }

        _session.ForgetWanted();
        AssureRoom(transaction);
        _session.LockAll();
    }

    private static Reach ReachOf(CommandSpec spec)
    {
        bool isUnbound = (spec.Flags & (CommandFlags.OtherDatabases | CommandFlags.RunsScript)) != 0;
        if (isUnbound || ((spec.Flags & CommandFlags.MovableKeys) != 0 && spec.Keys.CountArg == 0))
            return Reach.Everything;
        if (spec.Keys.First > 0)
            return Reach.Keys;
        return spec.Group is "connection" or "pubsub" or "transactions" ? Reach.Nothing : Reach.Everything;
    }

    // There is room for what it takes (store.U20); a script in it may ask for any amount, and is refused what there is not.
    private void AssureRoom(Transaction transaction)
    {
        if ((transaction.Queue.Flags & CommandFlags.RunsScript) == 0)
            _session.Room.TryAssure();
    }

    private bool TryPlan(Connection client, Transaction transaction)
    {
        foreach (Watch watch in transaction.Watched?.Watches ?? [])
        {
            fixed (byte* bytes = watch.Bytes)
                _session.Want(_store.KeyFromHash(bytes, watch.Key.Length, _store.Namespaces.Id(watch.Database), watch.Hash));
        }

        int database = client.Database;
        QueuedCommand* command = transaction.Queue.First;
        for (int left = transaction.Queue.Count; left > 0; left--, command = QueuedCommand.Next(command))
        {
            if (_reaches[command->Command] == Reach.Everything)
                return false;
            if (_reaches[command->Command] == Reach.Keys && !TryWantKeys(client, command, _store.Namespaces.Id(database)))
                return false;
            database = _calls.DatabaseAfter(client, command, database);
        }

        return true;
    }

    private bool TryWantKeys(Connection client, QueuedCommand* command, uint ns)
    {
        Call call = _calls.Of(client, command);
        KeySpec keys = _specs[command->Command].Keys;
        if (keys.CountArg == 0 && keys.Last == keys.First)
        {
            Arg key = call.Args[keys.First];
            _session.Want(_store.KeyFromHash(key.Bytes, key.Length, ns, command->KeyHash));
            return true;
        }

        if (!KeyPositions.TryOf(ref call, keys, out KeyPositions positions))
            return false;
        for (int i = 0; i < positions.Count; i++)
            _session.Want(call.KeyAt(positions[i], ns));
        return true;
    }
}
