using System.Globalization;
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

        if (!TryTerms(ref call, out MigrateTerms terms, out Reply failed))
            return failed;
        if (!call.Server.Settings.Security.AllowsMigration(terms.Host, terms.Port))
            return call.FailBytes([.. "ERR migrate-targets does not name "u8, .. call.Shown(1), .. ":"u8, .. call.Shown(2),
                .. ": nothing was sent"u8]);
        var keys = new List<MigratedKey>();
        for (int i = 0; i < terms.Keys; i++)
        {
            var key = new MigratedKey(call[terms.FirstKey + i].ToArray());
            if (TryDump(ref call, terms.FirstKey + i, key))
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
                if (key.IsTaken && key.Payload is not null && !TryRemove(ref call, migration.Terms, key))
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
    private static bool TryRemove(ref Call call, MigrateTerms terms, MigratedKey key)
    {
        int at = terms.FirstKey;
        while (!call[at].SequenceEqual(key.Name))
            at++;
        KeyRef name = call.KeyAt(at);
        var now = new MigratedKey(key.Name);
        call.Session.Lock([name]);
        bool isThere = TryDump(ref call, at, now);
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

    private static bool TryDump(ref Call call, int at, MigratedKey key)
    {
        KeyRef name = call.KeyAt(at);
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

    private static bool TryTerms(ref Call call, out MigrateTerms terms, out Reply failed)
    {
        terms = new MigrateTerms(call.Text(1), 0, call.Text(4), 0);
        failed = Reply.Sent;
        for (int i = 6; i < call.Count && failed == Reply.Sent; i++)
        {
            int left = call.Count - i - 1;
            if (call.Is(i, "COPY"u8))
            {
                terms.Copies = true;
            }
            else if (call.Is(i, "REPLACE"u8))
            {
                terms.Replaces = true;
            }
            else if (call.Is(i, "AUTH"u8) && left >= 1)
            {
                terms.Credentials = [call.Text(++i)];
            }
            else if (call.Is(i, "AUTH2"u8) && left >= 2)
            {
                terms.Credentials = [call.Text(i + 1), call.Text(i + 2)];
                i += 2;
            }
            else if (call.Is(i, "KEYS"u8))
            {
                if (!call[3].IsEmpty)
                    failed = call.FailBytes("ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"u8);
                terms.Keys = Math.Min(left, 1); // with nothing behind the word there is none
                break;
            }
            else
            {
                failed = call.Fail(Fault.Syntax);
            }
        }

        if (failed == Reply.Sent && (!call.TryInt64(5, out long _) || !call.TryInt64(4, out long _)))
            failed = call.Fail(Fault.NotAnInteger);
        if (terms.Keys > 0 && KeyPositions.TryOf(ref call, call.Server.Commands.Specs[call.Client.LastCommand].Keys, out KeyPositions keys))
            (terms.FirstKey, terms.Keys) = (keys[0], keys.Count);
        call.TryInt64(5, out long timeout);
        _ = int.TryParse(call.Text(2), NumberStyles.None, CultureInfo.InvariantCulture, out int port);
        terms = terms with
        {
            Port = Math.Clamp(port, 0, ushort.MaxValue), TimeoutMs = timeout is <= 0 or > int.MaxValue ? 1000 : (int)timeout,
        };
        return failed == Reply.Sent;
    }

    private struct ExpiryLook : IRead
    {
        internal long ExpireAtMs;

        public void Look(in RecordView record) => ExpireAtMs = record.ExpireAtMs;
    }
}
