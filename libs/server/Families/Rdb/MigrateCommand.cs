using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Base;
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
    private const int AtOnceMax = 256; // from a tier, side by side: no more than is kept

    public static CommandSpec Spec => KeyCommands.Spec("MIGRATE", -6, CommandFlags.Write | CommandFlags.NoScript | CommandFlags.NoMulti | CommandFlags.MovableKeys, new KeySpec(3, 3, 1) { KeysFrom = 6, AtOnceMax = AtOnceMax }, "RW ACCESS DELETE", "host port <key | \"\"> destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password] [KEYS key [key ...]]", "Moves keys to another server.") with { Since = "2.6.0", Categories = "dangerous", Complexity = "O(N) for each key, N being what it takes to write it out and to make it anew", Event = new KeyEvent("del", NotifyClasses.Generic) };

    public static Reply Run(ref Call call)
    {
        if (call.Client.Begun is not Migration migration)
        {
            if (!MigrateTerms.TryRead(ref call, out MigrateTerms terms, out Reply failed))
                return failed;
            if (!call.Server.Settings.Security.AllowsMigration(terms.Host, terms.Port))
                return call.FailBytes([.. "ERR migrate-targets does not name "u8, .. call.Shown(1), .. ":"u8, .. call.Shown(2),
                    .. ": nothing was sent"u8]);
            WatchTable watches = call.Server.Observers.Watches;
            migration = new Migration(terms, call.Server.Core.Tls.OfMigration, watches);
            watches.Begin();
            call.Client.Begun = migration;
            migration.BeginPiece();
        }

        bool goesOn = false;
        try
        {
            Reply reply = GoOn(ref call, migration);
            goesOn = reply == Reply.Postponed;
            return reply;
        }
        catch (Exception e) when (Unmet.IsForNow(e))
        {
            goesOn = true; // what it came to is fetched: then it goes on from there
            throw;
        }
        finally
        {
            if (!goesOn)
                call.Client.EndBegun();
        }
    }

    private static Reply GoOn(ref Call call, Migration migration)
    {
        if (!migration.IsReading)
        {
            if (!migration.Terms.Copies && !TryRemove(ref call, migration))
                return Yield(ref call, migration);
            if (migration.TryTakeLeft())
                return Send(ref call, migration);
            if (migration.IsBroken)
                return call.FailText(migration.Error);
            migration.BeginPiece();
            if (!migration.IsAtEnd)
                return Yield(ref call, migration); // behind changes what lies on a tier would be waited for in place
        }

        if (!TryGather(ref call, migration))
            return call.FailBytes("TRYAGAIN another MIGRATE is sending one of the keys; retry"u8);
        if (migration.Keys.Count > 0)
            return Send(ref call, migration);
        if (!migration.IsAtEnd)
        {
            migration.BeginPiece(); // there was none of so many
            return Yield(ref call, migration);
        }

        if (migration.Error.Length > 0)
            return call.FailText(migration.Error);
        if (migration.HasFound)
            return call.Ok();
        call.Out.Simple("NOKEY"u8);
        return Reply.Sent;
    }

    // False if another MIGRATE sends one of them: of two only one may delete it here, the other must not take it for one that was deleted, and what it has
    // read, if only for a copy, must not come behind a newer value that the target alone has then.
    private static bool TryGather(ref Call call, Migration migration)
    {
        while (migration.TryNext(out int index))
        {
            int at = migration.Terms.FirstKey + index;
            // Once, however often it is named: gone when it comes to it again, it would be taken for one that was deleted here, and deleted there.
            if (!migration.HasNamed(call[at]) && !TryRead(ref call, migration, at))
                return false;
            migration.Pass(index, call[at]);
            FetchedKeys.HasGotOn(call.Client);
        }

        return true;
    }

    private static bool TryRead(ref Call call, Migration migration, int at)
    {
        var key = new MigratedKey(call[at].ToArray(), at);
        KeyRef name = call.LockKeyAt(at);
        bool isFree = !call.Server.Observers.Watches.IsMoved(call.Client.Database, key.Name, call.HashAt(at));
        if (isFree && key.TryRead(ref call, in name))
            migration.Add(key, call.Client.Database, call.HashAt(at));
        call.Session.Unlock();
        return isFree;
    }

    private static Reply Send(ref Call call, Migration migration)
    {
        call.Worker.Park(call.Client, migration);
        migration.Send(call.Worker, call.Client);
        return Reply.Postponed;
    }

    private static Reply Yield(ref Call call, Migration migration)
    {
        call.Worker.Park(call.Client, migration);
        migration.GoOn(call.Worker, call.Client);
        return Reply.Postponed;
    }

    // Deletes what the target has taken and what has not been written since it was read, whatever was written; the others are left, and say what is to be sent now. So
    // a key that comes back while it is on its way (the target is this server, or moves it here at the same time) is not lost. A key is done when it is not taken any more.
    // False if the next lies on a tier: behind a change the command cannot be put off for it in this run.
    private static bool TryRemove(ref Call call, Migration migration)
    {
        bool hasRemoved = false;
        foreach (MigratedKey key in migration.Keys)
        {
            if (!key.IsTaken || key.Payload is null)
                continue;
            if (hasRemoved && call.Session.Tier is { } tier && tier.Foresee(call.KeyAt(key.At)))
                return false;
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
                hasRemoved = true;
            }

            call.Session.Unlock();
            key.IsTaken = false;
            FetchedKeys.HasGotOn(call.Client);
        }

        return true;
    }
}
