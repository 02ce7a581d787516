using System.Buffers;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Keys;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Strings;

/// <summary>Several strings at once: MGET, MSET, MSETNX, MSETEX, and what BULK.MPUT writes. The writes are one atomic step over all partitions they touch.</summary>
internal static unsafe class ManyCommands
{
    private const int PrefetchWidth = 64, PairBytes = 32; // of a pair, besides its bytes

    internal static void Register(CommandTable table)
    {
        table.Add<MGet>();
        table.Add<MSet>();
        table.Add<MSetNx>();
        table.Add<MSetEx>();
    }

    /// <summary>Hashes the keys that stand every <paramref name="step"/> arguments from <paramref name="first"/> on; return the array with <see cref="Return"/>.</summary>
    internal static KeyRef[] Rent(ref Call call, int first, int step, int count)
    {
        KeyRef[] keys = ArrayPool<KeyRef>.Shared.Rent(count);
        uint ns = call.Namespace;
        Span<nint> buckets = stackalloc nint[PrefetchWidth];
        for (int done = 0; done < count; done += PrefetchWidth)
        {
            int width = Math.Min(count - done, PrefetchWidth);
            for (int i = 0; i < width; i++)
            {
                keys[done + i] = call.KeyAt(first + ((done + i) * step), ns);
                buckets[i] = call.Worker.Store.PrefetchBucket(in keys[done + i]);
            }

            for (int i = 0; i < width; i++)
                call.Worker.Store.PrefetchRecord(in keys[done + i], buckets[i]);
        }

        return keys;
    }

    internal static void Return(KeyRef[] keys) => ArrayPool<KeyRef>.Shared.Return(keys);

    /// <summary>Sets pairs of a key and a value that stand one behind the other.</summary>
    internal static Reply SetAll(ref Call call, int first, int pairs, SetValue template, out bool applied) =>
        SetAll(ref call, new ManyStrings(first, 2, pairs, call.Args + first + 1, 2), template, out applied);

    /// <summary>Sets all, or none: refused before anything changes if a key is too long or memory is short.</summary>
    internal static Reply SetAll(ref Call call, in ManyStrings strings, SetValue template, out bool applied)
    {
        applied = false;
        int pairs = strings.Count;
        long bytes = 0;
        for (int i = 0; i < pairs; i++)
        {
            int keyBytes = call.Args[strings.FirstKey + (i * strings.KeyStep)].Length;
            if (keyBytes > Store.KeyBytesMax)
                return call.Fail(Fault.KeyTooLong);
            bytes += (2L * (keyBytes + IWriteLog.EntryHeadBytes)) + strings.Value(i).Length + PairBytes;
        }

        // store.U20: others take memory before the locks are had.
        if (!call.Session.Room.Demand(bytes) || !call.Session.Room.TryPromise(bytes))
            return call.Fail(Fault.OutOfMemory);
        try
        {
            return SetPromised(ref call, in strings, template, bytes, out applied);
        }
        finally
        {
            call.Session.Room.EndPromise();
        }
    }

    private static Reply SetPromised(ref Call call, in ManyStrings strings, SetValue template, long bytes, out bool applied)
    {
        applied = false;
        int pairs = strings.Count;
        KeyRef[] keys = Rent(ref call, strings.FirstKey, strings.KeyStep, pairs);
        call.Session.Lock(keys.AsSpan(0, pairs));
        Outcome outcome = Outcome.Done;
        if (AllowedBy(ref call, keys.AsSpan(0, pairs), template.Condition, template.IsBlind))
        {
            call.Session.Room.Announce(bytes);
            template.Condition = SetCondition.Always;
            applied = true;
            outcome = SetLocked(ref call, in strings, keys.AsSpan(0, pairs), template);
        }

        call.Session.Unlock();
        Return(keys);
        return outcome == Outcome.Done ? Reply.Sent : call.From(outcome);
    }

    /// <summary>
    /// True if the condition holds of all keys, which are locked. With a tier every key is read for it, so that one that cannot be read fails the command before anything
    /// is changed; one that is damaged is no obstacle to what sets or removes it whatever it was (<paramref name="isBlind"/>).
    /// </summary>
    internal static bool AllowedBy(ref Call call, ReadOnlySpan<KeyRef> keys, SetCondition condition, bool isBlind)
    {
        if (call.Session.Tier is not { } tier)
            return condition == SetCondition.Always || HoldsOfAll(ref call, keys, condition);
        tier.PassesDamaged = isBlind;
        try
        {
            return HoldsOfAll(ref call, keys, condition);
        }
        finally
        {
            tier.PassesDamaged = false;
        }
    }

    private static bool HoldsOfAll(ref Call call, ReadOnlySpan<KeyRef> keys, SetCondition condition)
    {
        foreach (ref readonly KeyRef key in keys)
        {
            var look = default(PresenceLook);
            bool exists = call.Session.Read(in key, ref look, quiet: true) == Outcome.Done;
            if (condition != SetCondition.Always && exists != (condition == SetCondition.IfPresent))
                return false;
        }

        return true;
    }

    private static Outcome SetLocked(ref Call call, in ManyStrings strings, ReadOnlySpan<KeyRef> keys, SetValue template)
    {
        Outcome worst = Outcome.Done;
        for (int i = 0; i < keys.Length; i++)
        {
            SetValue set = template;
            set.Value = strings.Value(i).Bytes;
            set.Length = strings.Value(i).Length;
            Outcome outcome = call.Session.Modify(in keys[i], ref set);
            if (outcome != Outcome.Done)
                worst = outcome;
        }

        return worst;
    }
}

internal readonly struct MGet : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("MGET", -2, StringCommands.ReadFast, KeySpec.All, "RO ACCESS", "key [key ...]", "Returns the string values of one or more keys.") with { Complexity = "O(N)" };

    public static unsafe Reply Run(ref Call call)
    {
        int count = call.Count - 1;
        KeyRef[] keys = ManyCommands.Rent(ref call, 1, 1, count);
        long start = call.Out.Mark;
        for (var read = new SnapshotRead(call.Session, keys.AsSpan(0, count)); read.Next();)
        {
            call.Out.TakeBackTo(start);
            Write(ref call, keys.AsSpan(0, count), read.IsAgain);
        }

        ManyCommands.Return(keys);
        return Reply.Sent;
    }

    private static unsafe void Write(ref Call call, ReadOnlySpan<KeyRef> keys, bool isAgain)
    {
        call.Out.Array(keys.Length);
        for (int i = 0; i < keys.Length; i++)
        {
            var copy = new ValueCopy(call.Out);
            Outcome outcome = call.Session.Read(in keys[i], ref copy, isAgain);
            while (outcome == Outcome.Done && copy.TooSmall && !copy.WrongKind)
            {
                call.Out.Room(copy.Length + 64);
                copy = new ValueCopy(call.Out);
                outcome = call.Session.Read(in keys[i], ref copy, quiet: true);
            }

            if (outcome != Outcome.Done || copy.WrongKind)
                call.Out.Null();
            else
                call.Out.Position = copy.End;
        }
    }
}

internal readonly struct MSet : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("MSET", -3, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, KeySpec.Pairs with { HeadsUpTo = int.MaxValue }, "OW UPDATE", "key value [key value ...]", "Sets the string values of one or more keys, atomically.") with { Event = KeyEvent.Set, Since = "1.0.1", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if (call.Count % 2 == 0)
            return call.FailBytes("ERR wrong number of arguments for 'mset' command"u8);
        Reply reply = ManyCommands.SetAll(ref call, 1, (call.Count - 1) / 2, default, out _);
        return reply == Reply.Sent ? call.Ok() : reply;
    }
}

internal readonly struct MSetNx : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("MSETNX", -3, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, KeySpec.Pairs with { HeadsUpTo = int.MaxValue }, "OW INSERT", "key value [key value ...]", "Sets the string values of one or more keys only when none of them exists, atomically.") with { Event = KeyEvent.Set, Since = "1.0.1", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if (call.Count % 2 == 0)
            return call.FailBytes("ERR wrong number of arguments for 'msetnx' command"u8);
        Reply reply = ManyCommands.SetAll(ref call, 1, (call.Count - 1) / 2, new SetValue { Condition = SetCondition.IfAbsent },
            out bool applied);
        return reply == Reply.Sent ? call.Int(applied ? 1 : 0) : reply;
    }
}

internal readonly struct MSetEx : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("MSETEX", -4, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.MovableKeys, new KeySpec(2, -1, 2) { CountArg = 1 }, "RW UPDATE", "numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]", "Sets the string values of one or more keys with a common expiry, atomically.") with { Event = KeyEvent.Set with { ExpiryAt = 2 }, Since = "8.4.0", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(1, out long count) || count is <= 0 or > int.MaxValue)
            return call.FailBytes("ERR invalid numkeys value"u8);
        if (count > (call.Count - 2) / 2)
            return call.FailBytes("ERR wrong number of key-value pairs"u8);
        var options = new StringOptions(StringOption.Exists | StringOption.Expire | StringOption.KeepTtl);
        if (!options.TryParse(ref call, 2 + (int)(count * 2), out Reply failed) || !options.TryExpiry(ref call, out failed))
            return failed;
        var template = new SetValue { Condition = options.Condition, KeepExpiry = options.KeepExpiry, ExpireAtMs = options.ExpireAtMs };
        Reply reply = ManyCommands.SetAll(ref call, 2, (int)count, template, out bool applied);
        return reply == Reply.Sent ? call.Int(applied ? 1 : 0) : reply;
    }
}
