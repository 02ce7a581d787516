using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Keys;
using Garnet.Rdb;
using Tsavorite;

namespace Garnet.Server.Families.Rdb;

/// <summary>
/// MIGRATE: keys go to another server. Nobody else waits while they are on their way; so a key is deleted here only if it is still what
/// was sent. One that has changed is sent again, a few times; if it goes on changing it stays, and the reply says so.
/// </summary>
internal readonly unsafe struct Migrate : ICommand
{
    private const int RoundsMax = 5;

    public static CommandSpec Spec => KeyCommands.Spec("MIGRATE", -6, CommandFlags.Write | CommandFlags.NoScript | CommandFlags.NoMulti | CommandFlags.MovableKeys, new KeySpec(3, 3, 1) { KeysFrom = 6 }, "RW ACCESS DELETE", "host port <key | \"\"> destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password] [KEYS key [key ...]]", "Moves keys to another server.") with { Since = "2.6.0", Categories = "dangerous", Complexity = "O(N) for each key, N being what it takes to write it out and to make it anew", Event = new KeyEvent("del", NotifyClasses.Generic) };

    public static Reply Run(ref Call call)
    {
        if (call.Client.Begun is Migration begun && IsOf(ref call, begun))
        {
            call.Client.Begun = null;
            return Finish(ref call, begun);
        }

        if (!MigrateTerms.TryRead(ref call, out MigrateTerms terms, out Reply failed))
            return failed;
        if (!call.Server.Settings.Security.AllowsMigration(terms.Host, terms.Port))
            return call.FailBytes([.. "ERR migrate-targets does not name "u8, .. call.Shown(1), .. ":"u8, .. call.Shown(2),
                .. ": nothing was sent"u8]);
        var keys = new List<MigratedKey>();
        var named = new HashSet<string>(StringComparer.Ordinal);
        for (int i = 0; i < terms.Keys; i++)
        {
            var key = new MigratedKey(call[terms.FirstKey + i].ToArray(), terms.FirstKey + i);
            // Once, however often it is named: gone when it comes to it again, it would be taken for one that was deleted here, and deleted there.
            if ((terms.Keys == 1 || named.Add(Encoding.Latin1.GetString(key.Name))) && TryDump(ref call, key))
                keys.Add(key);
        }

        if (keys.Count == 0)
        {
            call.Out.Simple("NOKEY"u8);
            return Reply.Sent;
        }

        var command = new byte[call.Count][];
        for (int i = 0; i < command.Length; i++)
            command[i] = call[i].ToArray();
        return Send(ref call, new Migration(terms, keys, call.Server.Core.Tls.OfMigration) { Command = command }, keys);
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
        var left = new List<MigratedKey>();
        if (!migration.Terms.Copies)
        {
            foreach (MigratedKey key in migration.Keys)
            {
                if (key.IsTaken && key.Payload is not null && !TryRemove(ref call, key))
                    left.Add(key);
            }
        }

        if (migration.Error.Length > 0)
            return call.FailText(migration.Error);
        if (left.Count > 0 && migration.Rounds < RoundsMax)
            return Send(ref call, migration, left);
        return left.Count > 0
            ? call.FailBytes("TRYAGAIN a key kept changing while it was sent: it is still here, and the target has an older copy"u8)
            : call.Ok();
    }

    // Deletes the key if it is what was sent; else the key says what is to be sent now.
    private static bool TryRemove(ref Call call, MigratedKey key)
    {
        KeyRef name = call.KeyAt(key.At);
        var now = new MigratedKey(key.Name, key.At);
        call.Session.Lock([name]);
        bool isThere = TryDump(ref call, now);
        bool same = isThere && now.ExpireAtMs == key.ExpireAtMs && now.Payload.AsSpan().SequenceEqual(key.Payload);
        if (same)
        {
            var delete = default(DeleteKey);
            call.Session.Modify(in name, ref delete);
        }

        call.Session.Unlock();
        (key.Payload, key.ExpireAtMs, key.WasSent, key.IsTaken) = (isThere ? now.Payload : null, now.ExpireAtMs, true, false);
        return same;
    }

    private static bool TryDump(ref Call call, MigratedKey key)
    {
        KeyRef name = call.KeyAt(key.At);
        var look = default(ExpiryLook);
        var encoder = default(RdbEncoder);
        call.Session.Lock([name]);
        bool isThere = call.Session.Read(in name, ref look, quiet: true) == Outcome.Done
            && call.Session.Examine(in name, ref encoder, quiet: true) == Outcome.Done;
        call.Session.Unlock();
        if (!isThere || encoder.IsEmpty)
            return false;
        RdbPayload.Close(ref encoder.To, encoder.Version);
        key.Payload = new ReadOnlySpan<byte>(encoder.To.Bytes.Head, encoder.To.Bytes.Count).ToArray();
        key.ExpireAtMs = look.ExpireAtMs;
        encoder.To.Bytes.Free();
        return true;
    }

    private static bool IsOf(ref Call call, Migration migration)
    {
        bool same = migration.Command.Length == call.Count;
        for (int i = 0; i < call.Count && same; i++)
            same = call[i].SequenceEqual(migration.Command[i]);
        return same;
    }

    private struct ExpiryLook : IRead
    {
        internal long ExpireAtMs;

        public void Look(in RecordView record) => ExpireAtMs = record.ExpireAtMs;
    }
}
