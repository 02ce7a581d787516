using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Keys;
using Garnet.Server.Families.Strings;
using Garnet.Rdb;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Families.Rdb;

/// <summary>A key's value as a string of bytes, to be put elsewhere: DUMP and RESTORE, exchangeable with Redis both ways, and MIGRATE.</summary>
internal static class DumpCommands
{
    internal static ReadOnlySpan<byte> KeyIsThere => "BUSYKEY Target key name already exists."u8;

    internal static void Register(CommandTable table)
    {
        table.Add<Dump>();
        table.Add<Restore>();
        table.Add<RestoreAsking>();
        table.Add<Migrate>();
    }
}

internal readonly unsafe struct Dump : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("DUMP", 2, CommandFlags.ReadOnly, KeySpec.One, "RO ACCESS", "key", "Returns the value of a key in a form that RESTORE takes.") with { Since = "2.6.0", Complexity = "O(1) to find the key, O(N*M) to write it out (N: parts of the value, M: their size)", Misses = KeyMisses.First };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var encoder = default(RdbEncoder);
        try
        {
            if (call.Session.Examine(in key, ref encoder) != Outcome.Done || encoder.IsEmpty)
                return call.Null();
            if (encoder.Failed)
                return call.FailBytes("ERR this type has no dumped form yet"u8);
            RdbPayload.Close(ref encoder.To, encoder.Version);
            call.Bulk(new ReadOnlySpan<byte>(encoder.To.Bytes.Head, encoder.To.Bytes.Count));
            return Reply.Sent;
        }
        finally
        {
            encoder.To.Bytes.Free(); // it may be put off in the middle of it
        }
    }
}

/// <summary>RESTORE as a cluster's nodes send it to each other.</summary>
internal readonly struct RestoreAsking : ICommand
{
    public static CommandSpec Spec => Restore.Spec with { Name = "RESTORE-ASKING", Since = "3.0.0", Flags = Restore.Spec.Flags | CommandFlags.Asking };

    public static Reply Run(ref Call call) => Restore.Run(ref call);
}

internal readonly unsafe struct Restore : ICommand
{
    private const int FrequencyMax = 255;

    public static CommandSpec Spec => KeyCommands.Spec("RESTORE", -4, CommandFlags.Write | CommandFlags.DenyOom, KeySpec.One, "OW UPDATE", "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]", "Makes a key of what DUMP has answered.") with { Since = "2.6.0", Categories = "dangerous", Complexity = "O(1) to find the key, O(N*M) to make it (N: parts of the value, M: their size)", Event = new KeyEvent("restore", NotifyClasses.Generic) { Renews = true } };

    public static Reply Run(ref Call call)
    {
        if (!TryOptions(ref call, out bool replace, out bool absolute, out Reply failed))
            return failed;
        KeyRef key = call.Key;
        var look = default(PresenceLook);
        if (!replace && call.Session.Read(in key, ref look, quiet: true) == Outcome.Done)
            return call.FailBytes(DumpCommands.KeyIsThere);
        if (!call.TryInt64(2, out long time))
            return call.Fail(Fault.NotAnInteger);
        if (time < 0)
            return call.FailBytes("ERR Invalid TTL value, must be >= 0"u8);
        if (time > 0 && !absolute && time > long.MaxValue - call.NowMs)
            return ExpiryTime.Refuse(ref call);
        time += time > 0 && !absolute ? call.NowMs : 0;
        if (!RdbPayload.TryOpen(call[3], out int bytes))
            return call.Fail(Fault.DumpDamaged);
        using var value = new RdbValue { BytesMax = Math.Min(call.Server.MemoryLimitBytes, ByteQueue.BytesMax) };
        var from = new RdbCursor(call.Args[3].Bytes, call.Args[3].Bytes + bytes);
        try
        {
            bool sound = from.TryByte(out byte type) && RdbDecoder.TryRead(ref from, (RdbType)type, value) && from.Left == 0;
            return sound ? Store(ref call, value, time, replace) : call.FailBytes("ERR Bad data format"u8);
        }
        finally
        {
            from.Free();
        }
    }

    private static Reply Store(ref Call call, RdbValue value, long expireAtMs, bool replace)
    {
        KeyRef key = call.Key;
        call.Session.Room.Ensure(value.Bytes);
        call.Session.Lock([key]);
        var look = default(PresenceLook);
        bool refused = !replace && call.Session.Read(in key, ref look, quiet: true) == Outcome.Done;
        Outcome outcome = Outcome.Done;
        if (!refused && expireAtMs != 0 && expireAtMs <= call.NowMs)
        {
            var delete = default(DeleteKey);
            call.Session.Modify(in key, ref delete);
        }
        else if (!refused)
        {
            outcome = RdbStoring.Put(call.Session, in key, value, expireAtMs, call.Server.Settings.Encoding);
        }

        call.Session.Unlock();
        if (value.FieldTimes is not null)
            call.Server.EntryReaper.Wake(in key);
        if (refused)
            return call.FailBytes(DumpCommands.KeyIsThere);
        return outcome == Outcome.Done ? call.Ok() : call.From(outcome);
    }

    private static bool TryOptions(ref Call call, out bool replace, out bool absolute, out Reply failed)
    {
        replace = absolute = false;
        failed = Reply.Sent;
        bool idle = false, frequency = false;
        for (int i = 4; i < call.Count && failed == Reply.Sent; i++)
        {
            if (call.Is(i, "REPLACE"u8))
                replace = true;
            else if (call.Is(i, "ABSTTL"u8))
                absolute = true;
            else if (call.Is(i, "IDLETIME"u8) && i + 1 < call.Count && !frequency)
                failed = Number(ref call, ++i, long.MaxValue, "ERR Invalid IDLETIME value, must be >= 0"u8, out idle);
            else if (call.Is(i, "FREQ"u8) && i + 1 < call.Count && !idle)
                failed = Number(ref call, ++i, FrequencyMax, "ERR Invalid FREQ value, must be >= 0 and <= 255"u8, out frequency);
            else
                failed = call.Fail(Fault.Syntax);
        }

        return failed == Reply.Sent;
    }

    // Both are accepted and not kept: how recently and how often a key is used is counted otherwise here.
    private static Reply Number(ref Call call, int at, long most, ReadOnlySpan<byte> refusal, out bool given)
    {
        given = true;
        if (!call.TryInt64(at, out long number))
            return call.Fail(Fault.NotAnInteger);
        return number < 0 || number > most ? call.FailBytes(refusal) : Reply.Sent;
    }
}
