using System.Buffers.Text;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>Finding keys: SCAN, KEYS, RANDOMKEY, DBSIZE.</summary>
internal static class ScanCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Scan>();
        table.Add<Keys>();
        table.Add<RandomKey>();
        table.Add<DbSize>();
    }
}

internal readonly struct Scan : ICommand
{
    private const long CountMax = 10_000; // more would hold a worker too long: COUNT is a hint
    private const ulong SkipsBit = 1UL << 62; // of a cursor: what cannot be read is left out from here on, as the client knows

    public static CommandSpec Spec => KeyCommands.Spec("SCAN", -2, CommandFlags.ReadOnly, KeySpec.None, "", "cursor [MATCH pattern] [COUNT count] [TYPE type]", "Iterates over the keys of the database.") with { Since = "2.8.0" };

    public static Reply Run(ref Call call)
    {
        if (!TryCursor(call[1], out ulong cursor))
            return call.Fail(Fault.InvalidCursor);
        Glob? pattern = null;
        RecordKind kind = RecordKind.None;
        bool unknownType = false;
        long count = 10;
        for (int i = 2; i < call.Count; i += 2)
        {
            if (i + 1 == call.Count)
                return call.Fail(Fault.Syntax);
            if (call.Is(i, "COUNT"u8))
            {
                if (!call.TryInt64(i + 1, out count))
                    return call.Fail(Fault.NotAnInteger);
                if (count < 1)
                    return call.Fail(Fault.Syntax);
            }
            else if (call.Is(i, "MATCH"u8))
            {
                pattern = KeyCollector.PatternOf(call[i + 1]);
            }
            else if (call.Is(i, "TYPE"u8))
            {
                kind = KindOf(ref call, i + 1);
                unknownType = kind == RecordKind.None;
            }
            else
            {
                return call.Fail(Fault.Syntax);
            }
        }

        var collector = new KeyCollector(pattern, unknownType ? RecordKind.Padding : kind);
        return Run(ref call, cursor, (int)Math.Min(count, CountMax), ref collector);
    }

    private static Reply Run(ref Call call, ulong cursor, int count, ref KeyCollector collector)
    {
        ulong skips = cursor & SkipsBit;
        try
        {
            ulong next = call.Session.ScanPart(call.Namespace, cursor & ~SkipsBit, count, ref collector, skips != 0);
            call.Out.Array(2);
            WriteCursor(call.Out, next == 0 ? 0 : next | skips);
            collector.WriteTo(call.Out);
            return Reply.Sent;
        }
        catch (GarnetException e)
        {
            return call.FailText($"{Unmet.TextOf(e)}; SCAN {cursor | SkipsBit} goes on here and leaves out what cannot be read");
        }
        finally
        {
            collector.Free();
        }
    }

    private static RecordKind KindOf(ref Call call, int index)
    {
        for (RecordKind kind = RecordKind.String; kind <= RecordKind.Stream; kind++)
        {
            if (call.Is(index, TypeOf.Name(kind)))
                return kind;
        }

        return RecordKind.None;
    }

    // As C's strtoul: a sign is taken, a minus negates without overflow, nothing at all is 0.
    internal static bool TryCursor(ReadOnlySpan<byte> text, out ulong cursor)
    {
        cursor = 0;
        if (text.IsEmpty)
            return true;
        bool negative = text[0] == '-';
        if (text[0] is (byte)'-' or (byte)'+')
            text = text[1..];
        if (!Utf8Parser.TryParse(text, out cursor, out int used) || used != text.Length)
            return false;
        cursor = negative ? 0 - cursor : cursor;
        return true;
    }

    private static unsafe void WriteCursor(RespWriter writer, ulong cursor)
    {
        byte* digits = stackalloc byte[32];
        byte* end = Garnet.Common.Bytes.NumberText.WriteUnsigned(digits, cursor);
        writer.Bulk(new ReadOnlySpan<byte>(digits, (int)(end - digits)));
    }
}

internal readonly struct Keys : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("KEYS", 2, CommandFlags.ReadOnly, KeySpec.None, "", "pattern", "Returns all keys that match a pattern.") with { Complexity = "O(N)", Categories = "dangerous" };

    public static Reply Run(ref Call call)
    {
        if (KeyWalk.MustWait(ref call))
            return Reply.Postponed;
        KeyWalk walk = KeyWalk.Taken(ref call);
        bool goesOn = false;
        try
        {
            while (walk.Step(ref call))
            {
            }
            walk.WriteTo(ref call);
            return Reply.Sent;
        }
        catch (ColdMissException)
        {
            goesOn = true; // the command runs again
            walk.Keep(call.Client);
            throw;
        }
        finally
        {
            if (!goesOn)
                walk.Abandon(call.Client);
        }
    }
}

internal readonly struct RandomKey : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("RANDOMKEY", 1, CommandFlags.ReadOnly | CommandFlags.Quick, KeySpec.None, "", "", "Returns the name of a random key.");

    public static unsafe Reply Run(ref Call call)
    {
        byte* room = call.Out.Room(Store.KeyBytesMax + 64);
        var copy = new KeyCopy(room);
        if (!call.Session.RandomRecord(call.Namespace, ref copy))
            return call.Null();
        call.Out.Position = copy.End;
        return Reply.Sent;
    }

    private unsafe struct KeyCopy(byte* to) : IRead
    {
        internal byte* End;

        public void Look(in RecordView record)
        {
            byte* at = RespWriter.BulkHeader(to, record.KeyBytes);
            record.KeySpan.CopyTo(new Span<byte>(at, record.KeyBytes));
            End = RespWriter.EndLine(at + record.KeyBytes);
        }
    }
}

internal readonly struct DbSize : ICommand
{
    public static CommandSpec Spec => new("DBSIZE", 1, CommandFlags.ReadOnly | CommandFlags.Fast) { Group = "server", Summary = "Returns the number of keys in the database.", Categories = "keyspace" };

    public static Reply Run(ref Call call) => call.Int(call.Session.Count(call.Namespace));
}
