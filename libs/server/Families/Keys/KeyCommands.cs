using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Server.Families.Strings;
using Garnet.Types.Keys;
using Garnet.Types.Soundness;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>Keys whatever they hold: DEL, EXISTS, TYPE, RENAME, COPY, MOVE and their relatives.</summary>
internal static class KeyCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Del>();
        table.Add<Unlink>();
        table.Add<Exists>();
        table.Add<Touch>();
        table.Add<TypeOf>();
        table.Add<Rename>();
        table.Add<RenameNx>();
        table.Add<Copy>();
        table.Add<Move>();
    }

    internal static void Replay(ReplayTable table)
    {
        table.Add<PutRecord>();
        table.Add<ChangeExpiry>();
    }

    internal static CommandSpec Spec(
        string name, int arity, CommandFlags flags, KeySpec keys, string usage, string syntax, string summary) =>
        new(name, arity, flags, keys with { Usage = usage }) { Group = "generic", Syntax = syntax, Summary = summary };

    /// <summary>Removes all keys named by the arguments in one atomic step; replies how many there were. Where one cannot be read none is removed.</summary>
    internal static Reply Remove(ref Call call)
    {
        int count = call.Count - 1;
        if (count == 1)
        {
            KeyRef only = call.Key;
            var delete = default(DeleteKey);
            call.Session.Modify(in only, ref delete);
            return call.Int(delete.Removed == RecordKind.None ? 0 : 1);
        }

        long removed = 0;
        KeyRef[] keys = ManyCommands.Rent(ref call, 1, 1, count);
        call.Session.Lock(keys.AsSpan(0, count));
        ManyCommands.AllowedBy(ref call, keys.AsSpan(0, count), SetCondition.Always, default(DeleteKey).IsBlind);
        for (int i = 0; i < count; i++)
        {
            var delete = default(DeleteKey);
            call.Session.Modify(in keys[i], ref delete);
            removed += delete.Removed == RecordKind.None ? 0 : 1;
        }

        call.Session.Unlock();
        ManyCommands.Return(keys);
        return call.Int(removed);
    }

    /// <summary>Counts the arguments that name a live key, each as often as it is named.</summary>
    internal static Reply CountPresent(ref Call call, bool quiet)
    {
        int count = call.Count - 1;
        if (count == 1)
        {
            KeyRef only = call.Key;
            return call.Int(CountPresent(call.Session, [only], quiet));
        }

        long found = 0;
        KeyRef[] keys = ManyCommands.Rent(ref call, 1, 1, count);
        for (var read = new SnapshotRead(call.Session, keys.AsSpan(0, count)); read.Next();)
            found = CountPresent(call.Session, keys.AsSpan(0, count), quiet || read.IsAgain);
        ManyCommands.Return(keys);
        return call.Int(found);
    }

    private static long CountPresent(StoreSession store, ReadOnlySpan<KeyRef> keys, bool quiet)
    {
        long found = 0;
        foreach (ref readonly KeyRef key in keys)
        {
            var look = default(PresenceLook);
            if (store.Read(in key, ref look, quiet) == Outcome.Done)
                found++;
        }

        return found;
    }

    /// <summary>Moves or copies a record between two keys under both locks. The destination's old record is replaced if allowed.</summary>
    internal static Transfer Relocate(ref Call call, in KeyRef source, in KeyRef target, bool replace, bool keepSource)
    {
        call.Session.Room.Ensure(0);
        Transfer transfer = RelocateOnce(ref call, in source, in target, replace, keepSource);
        bool mayEvict = transfer == Transfer.OutOfMemory && call.Session.LockDepth == 0;
        if (!mayEvict || !call.Session.Room.Demand(CollectionCalls.Footprint(ref call)))
            return transfer;
        return RelocateOnce(ref call, in source, in target, replace, keepSource); // there is room for all of it now
    }

    private static Transfer RelocateOnce(ref Call call, in KeyRef source, in KeyRef target, bool replace, bool keepSource)
    {
        Span<KeyRef> both = [source, target];
        call.Session.Lock(both);
        Transfer transfer = RelocateLocked(ref call, in source, in target, replace, keepSource);
        call.Session.Unlock();
        return transfer;
    }

    private static unsafe Transfer RelocateLocked(ref Call call, in KeyRef source, in KeyRef target, bool replace, bool keepSource)
    {
        var grip = default(RecordGrip);
        if (call.Session.Read(in source, ref grip, quiet: true) != Outcome.Done)
            return Transfer.NoSource;
        var look = default(PresenceLook);
        if (!replace && call.Session.Read(in target, ref look, quiet: true) == Outcome.Done)
            return Transfer.TargetExists;
        int noted = call.Worker.Notes.Count;
        bool isTimed = ValueCheck.EntriesMayExpire(grip.Content.Kind, grip.Content.Value, grip.Content.Length);
        Outcome outcome = grip.HasChunks
            ? CollectionTransfer.Copy(ref call, in source, in target, in grip.Content)
            : call.Session.Modify(in target, ref grip.Content);
        if (outcome != Outcome.Done)
            return outcome == Outcome.OutOfMemory ? Transfer.OutOfMemory : Transfer.TooLarge;
        Telling.AsOne(ref call, noted);
        if (isTimed)
            call.Server.EntryReaper.Wake(in target); // a walk under way may miss both
        if (keepSource)
            return Transfer.Done;
        var delete = default(DeleteKey);
        call.Session.Modify(in source, ref delete);
        return Transfer.Done;
    }

    /// <summary>Replies what a transfer came to, with the texts of the caller's command for the plain cases.</summary>
    internal static Reply ReplyFailure(ref Call call, Transfer transfer) => transfer switch
    {
        Transfer.OutOfMemory => call.Fail(Fault.OutOfMemory),
        Transfer.TooLarge => call.Fail(Fault.KeyTooLong),
        _ => call.Fail(Fault.NoSuchKey),
    };

    /// <summary>True if the argument is the number of a database that there is.</summary>
    internal static bool NamesDatabase(ref Call call, int index, out int database)
    {
        bool isThere = call.TryInt64(index, out long number) && number >= 0 && number < call.Server.Settings.Memory.Databases;
        database = isThere ? (int)number : 0;
        return isThere;
    }

    /// <summary>Reads a database number as Redis does; on false the error has been written.</summary>
    internal static bool TryDatabase(ref Call call, int index, out int database, out Reply failed)
    {
        failed = Reply.Sent;
        if (NamesDatabase(ref call, index, out database))
            return true;
        if (!call.TryInt64(index, out long number))
            failed = call.Fail(Fault.NotAnInteger);
        else if (number is < int.MinValue or > int.MaxValue)
            failed = call.FailBytes("ERR value is out of range, value must between -2147483648 and 2147483647"u8);
        else
            failed = call.Fail(Fault.DatabaseOutOfRange);
        return false;
    }
}

/// <summary>What moving or copying a record came to.</summary>
internal enum Transfer
{
    Done,
    NoSource,
    TargetExists,
    OutOfMemory,
    TooLarge,
}

internal readonly struct Del : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("DEL", -2, CommandFlags.Write | CommandFlags.Quick, KeySpec.All with { HeadsUpTo = int.MaxValue }, "RM DELETE", "key [key ...]", "Deletes one or more keys.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call) => KeyCommands.Remove(ref call);
}

internal readonly struct Unlink : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("UNLINK", -2, CommandFlags.Write | CommandFlags.Fast, KeySpec.All with { HeadsUpTo = int.MaxValue }, "RM DELETE", "key [key ...]", "Deletes one or more keys; memory is freed in the background.") with { Since = "4.0.0" };

    public static Reply Run(ref Call call) => KeyCommands.Remove(ref call);
}

internal readonly struct Exists : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("EXISTS", -2, CommandFlags.ReadOnly | CommandFlags.Fast, KeySpec.All with { HeadsUpTo = int.MaxValue }, "RO", "key [key ...]", "Counts the named keys that exist.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call) => KeyCommands.CountPresent(ref call, quiet: false);
}

internal readonly struct Touch : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("TOUCH", -2, CommandFlags.ReadOnly | CommandFlags.Fast, KeySpec.All with { HeadsUpTo = int.MaxValue }, "RO", "key [key ...]", "Counts the named keys that exist and marks them as used.") with { Since = "3.2.1", Complexity = "O(N)" };

    public static Reply Run(ref Call call) => KeyCommands.CountPresent(ref call, quiet: false);
}

internal readonly struct TypeOf : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("TYPE", 2, CommandFlags.ReadOnly | CommandFlags.Fast, KeySpec.One with { HeadsUpTo = int.MaxValue }, "RO", "key", "Returns what kind of value a key holds.");

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var look = default(FieldsLook);
        RecordKind kind = call.Session.Read(in key, ref look, quiet: true) == Outcome.Done ? look.Kind : RecordKind.None;
        call.Out.Simple(Name(kind));
        return Reply.Sent;
    }

    internal static ReadOnlySpan<byte> Name(RecordKind kind) => kind switch
    {
        RecordKind.String => "string"u8,
        RecordKind.Hash => "hash"u8,
        RecordKind.List => "list"u8,
        RecordKind.Set => "set"u8,
        RecordKind.SortedSet => "zset"u8,
        RecordKind.Stream => "stream"u8,
        _ => "none"u8,
    };
}

internal readonly struct Rename : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("RENAME", 3, CommandFlags.Write | CommandFlags.Quick, KeySpec.Two with { RestUsage = "OW UPDATE" }, "RW ACCESS DELETE", "key newkey", "Renames a key, replacing one of the new name.") with { Event = new("rename_to", NotifyClasses.Generic) { From = "rename_from" } };

    public static Reply Run(ref Call call)
    {
        KeyRef source = call.Key;
        if (call[1].SequenceEqual(call[2]))
        {
            var look = default(PresenceLook);
            return call.Session.Read(in source, ref look, quiet: true) == Outcome.Done ? call.Ok() : call.Fail(Fault.NoSuchKey);
        }

        KeyRef target = call.KeyAt(2);
        Transfer transfer = KeyCommands.Relocate(ref call, in source, in target, replace: true, keepSource: false);
        return transfer == Transfer.Done ? call.Ok() : KeyCommands.ReplyFailure(ref call, transfer);
    }
}

internal readonly struct RenameNx : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("RENAMENX", 3, CommandFlags.Write | CommandFlags.Fast, KeySpec.Two with { RestUsage = "OW INSERT" }, "RW ACCESS DELETE", "key newkey", "Renames a key only when the new name is free.") with { Event = new("rename_to", NotifyClasses.Generic) { From = "rename_from" } };

    public static Reply Run(ref Call call)
    {
        KeyRef source = call.Key;
        KeyRef target = call.KeyAt(2);
        if (call[1].SequenceEqual(call[2]))
        {
            var look = default(PresenceLook);
            return call.Session.Read(in source, ref look, quiet: true) == Outcome.Done ? call.Int(0) : call.Fail(Fault.NoSuchKey);
        }

        Transfer transfer = KeyCommands.Relocate(ref call, in source, in target, replace: false, keepSource: false);
        return transfer is Transfer.Done or Transfer.TargetExists
            ? call.Int(transfer == Transfer.Done ? 1 : 0)
            : KeyCommands.ReplyFailure(ref call, transfer);
    }
}

internal readonly struct Copy : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("COPY", -3, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.OtherDatabases | CommandFlags.Quick, KeySpec.Two with { RestUsage = "OW UPDATE", Elsewhere = TargetOf }, "RO ACCESS", "source destination [DB destination-db] [REPLACE]", "Copies the value of a key to another key.") with { Event = new("copy_to", NotifyClasses.Generic) { Renews = true }, Misses = KeyMisses.First, Since = "6.2.0", Room = CollectionCalls.Footprint };

    public static Reply Run(ref Call call)
    {
        int database = call.Client.Database;
        bool replace = false;
        for (int i = 3; i < call.Count; i++)
        {
            if (call.Is(i, "REPLACE"u8))
            {
                replace = true;
                continue;
            }

            if (!call.Is(i, "DB"u8) || i + 1 == call.Count)
                return call.Fail(Fault.Syntax);
            if (!KeyCommands.TryDatabase(ref call, ++i, out database, out Reply failed))
                return failed;
        }

        if (database == call.Client.Database && call[1].SequenceEqual(call[2]))
            return call.Fail(Fault.SameObject);
        KeyRef source = call.Key;
        KeyRef target = call.KeyAt(2, call.Worker.Store.Namespaces.Id(database));
        Transfer transfer = KeyCommands.Relocate(ref call, in source, in target, replace, keepSource: true);
        return transfer is Transfer.OutOfMemory or Transfer.TooLarge
            ? KeyCommands.ReplyFailure(ref call, transfer)
            : call.Int(transfer == Transfer.Done ? 1 : 0);
    }

    // As the run will have it: the last DB counts.
    private static bool TargetOf(ref Call call, out int key, out int database)
    {
        key = 2;
        int at = 0;
        for (int i = 3; i + 1 < call.Count; i++)
        {
            if (call.Is(i, "DB"u8))
                at = ++i;
        }

        database = 0;
        return at > 0 && KeyCommands.NamesDatabase(ref call, at, out database);
    }
}

internal readonly struct Move : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("MOVE", 3, CommandFlags.Write | CommandFlags.OtherDatabases | CommandFlags.Fast, KeySpec.One with { Elsewhere = TargetOf }, "RW ACCESS UPDATE", "key db", "Moves a key to another database.") with { Event = new("move_to", NotifyClasses.Generic) { From = "move_from" } };

    public static Reply Run(ref Call call)
    {
        if (!KeyCommands.TryDatabase(ref call, 2, out int database, out Reply failed))
            return failed;
        if (database == call.Client.Database)
            return call.Fail(Fault.SameObject);
        KeyRef source = call.Key;
        KeyRef target = call.KeyAt(1, call.Worker.Store.Namespaces.Id(database));
        Transfer transfer = KeyCommands.Relocate(ref call, in source, in target, replace: false, keepSource: false);
        return transfer is Transfer.OutOfMemory or Transfer.TooLarge
            ? KeyCommands.ReplyFailure(ref call, transfer)
            : call.Int(transfer == Transfer.Done ? 1 : 0);
    }

    private static bool TargetOf(ref Call call, out int key, out int database)
    {
        key = 1;
        return KeyCommands.NamesDatabase(ref call, 2, out database);
    }
}
