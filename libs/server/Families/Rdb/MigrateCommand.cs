using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Keys;
using Garnet.Server.Transactions;
using Tsavorite;

namespace Garnet.Server.Families.Rdb;

/// <summary>
/// MIGRATE: keys go to another server. Nobody else waits while they are on their way; so a key is deleted here only if nobody has written it since it was
/// read. One that somebody has is sent again, a few times; if it goes on changing it stays, and the reply says so.
/// </summary>
internal readonly unsafe struct Migrate : ICommand
{
    private const int RoundsMax = 5;

    public static CommandSpec Spec => KeyCommands.Spec("MIGRATE", -6, CommandFlags.Write | CommandFlags.NoScript | CommandFlags.NoMulti | CommandFlags.MovableKeys, new KeySpec(3, 3, 1) { KeysFrom = 6 }, "RW ACCESS DELETE", "host port <key | \"\"> destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password] [KEYS key [key ...]]", "Moves keys to another server.") with { Since = "2.6.0", Categories = "dangerous", Complexity = "O(N) for each key, N being what it takes to write it out and to make it anew", Event = new KeyEvent("del", NotifyClasses.Generic) };

    public static Reply Run(ref Call call)
    {
        if (call.Client.Begun is Migration begun)
        {
            call.Client.Begun = null;
            if (IsOf(ref call, begun))
                return Finish(ref call, begun);
            begun.EndWatches();
        }

        if (!MigrateTerms.TryRead(ref call, out MigrateTerms terms, out Reply failed))
            return failed;
        if (!call.Server.Settings.Security.AllowsMigration(terms.Host, terms.Port))
            return call.FailBytes([.. "ERR migrate-targets does not name "u8, .. call.Shown(1), .. ":"u8, .. call.Shown(2),
                .. ": nothing was sent"u8]);
        var command = new byte[call.Count][];
        for (int i = 0; i < command.Length; i++)
            command[i] = call[i].ToArray();
        WatchTable watches = call.Server.Observers.Watches;
        var migration = new Migration(terms, call.Server.Core.Tls.OfMigration, watches) { Command = command };
        if (migration.Watched is not null)
            watches.Begin();
        try
        {
            if (!TryGather(ref call, migration))
                return call.FailBytes("TRYAGAIN another MIGRATE is moving one of the keys; retry"u8);
            if (migration.Keys.Count > 0)
                return Send(ref call, migration, migration.Keys);
            call.Out.Simple("NOKEY"u8);
            return Reply.Sent;
        }
        finally
        {
            EndUnlessBegun(ref call, migration);
        }
    }

    private static void EndUnlessBegun(ref Call call, Migration migration)
    {
        if (call.Client.Begun != migration)
            migration.EndWatches();
    }

    // False if another MIGRATE moves one of them: of two only one may delete it here, and the other must not take it for one that was deleted.
    private static bool TryGather(ref Call call, Migration migration)
    {
        MigrateTerms terms = migration.Terms;
        var named = new HashSet<string>(StringComparer.Ordinal);
        for (int i = 0; i < terms.Keys; i++)
        {
            var key = new MigratedKey(call[terms.FirstKey + i].ToArray(), terms.FirstKey + i);
            // Once, however often it is named: gone when it comes to it again, it would be taken for one that was deleted here, and deleted there.
            if (terms.Keys > 1 && !named.Add(Encoding.Latin1.GetString(key.Name)))
                continue;
            KeyRef name = call.LockKeyAt(key.At);
            bool isFree = migration.Watched is null
                || !call.Server.Observers.Watches.IsMoved(call.Client.Database, key.Name, call.HashAt(key.At));
            if (isFree && key.TryRead(ref call, in name))
                migration.Add(key, call.Client.Database, call.HashAt(key.At));
            call.Session.Unlock();
            if (!isFree)
                return false;
        }

        return true;
    }

    private static Reply Send(ref Call call, Migration migration, List<MigratedKey> keys)
    {
        call.Client.Begun = migration;
        call.Worker.Park(call.Client, migration);
        migration.Begin(keys, call.Worker, call.Client);
        return Reply.Postponed;
    }

    private static Reply Finish(ref Call call, Migration migration)
    {
        try
        {
            if (migration.Watched is not null)
                Remove(ref call, migration);
            if (migration.Error.Length > 0)
                return call.FailText(migration.Error);
            if (migration.Left.Count == 0)
                return call.Ok();
            return migration.Rounds < RoundsMax ? Send(ref call, migration, migration.Left)
                : call.FailBytes("TRYAGAIN a key kept changing while it was sent: it is still here, and the target has an older copy"u8);
        }
        catch (Exception e) when (e is ColdMissException or RoomMissException)
        {
            call.Client.Begun = migration; // what it came to is fetched: then it goes on from there
            throw;
        }
        finally
        {
            EndUnlessBegun(ref call, migration);
        }
    }

    // Deletes what the target has taken and what has not been written since it was read, whatever was written; the others are left, and say what is to be sent now. So
    // a key that comes back while it is on its way (the target is this server, or moves it here at the same time) is not lost. A key is done when it is not taken any more.
    private static void Remove(ref Call call, Migration migration)
    {
        foreach (MigratedKey key in migration.Keys)
        {
            if (!key.IsTaken || key.Payload is null)
                continue;
            KeyRef name = call.LockKeyAt(key.At);
            if (key.Watch!.Touched)
            {
                if (!key.TryRead(ref call, in name))
                    key.Payload = null;
                key.Watch.Rearm();
                key.WasSent = true;
                migration.Left.Add(key);
            }
            else
            {
                var delete = default(DeleteKey);
                call.Session.Modify(in name, ref delete);
            }

            call.Session.Unlock();
            key.IsTaken = false;
        }
    }

    private static bool IsOf(ref Call call, Migration migration)
    {
        bool same = migration.Command.Length == call.Count;
        for (int i = 0; i < call.Count && same; i++)
            same = call[i].SequenceEqual(migration.Command[i]);
        return same;
    }
}
