using System.Text;
using Garnet.Aof.Shipping;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting.Functions;
using Garnet.Server.Telemetry;
using Garnet.Types.Collections;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Families.Inspect;

/// <summary>Looking inside: MEMORY, OBJECT.</summary>
internal static class InspectCommands
{
    internal static void Register(CommandTable table)
    {
        CommandLogCommands.Register(table);
        LatencyCommands.Register(table);
        HotKeyCommands.Register(table);
        table.AddContainer(MemorySpec("MEMORY", "Looks at memory.", -2));
        table.Add<MemoryUsage>();
        table.Add<MemoryStats>();
        table.Add<MemoryDoctor>();
        table.Add<MemoryPurge>();
        table.Add<MemoryMallocStats>();
        table.AddContainer(new CommandSpec("OBJECT", -2, CommandFlags.None) { Group = "generic", Summary = "Looks at how values are kept.",
            Since = "2.2.3" });
        table.Add<ObjectEncoding>();
        table.Add<ObjectFreq>();
        table.Add<ObjectIdleTime>();
        table.Add<ObjectRefCount>();
    }

    internal static CommandSpec Spec(string name, string syntax, string summary, string since, int arity = -2) =>
        new(name, arity, CommandFlags.Admin | CommandFlags.Loading | CommandFlags.Stale)
        {
            Group = "server",
            Syntax = syntax,
            Summary = summary,
            Since = since,
        };

    internal static CommandSpec MemorySpec(string name, string summary, int arity = 2) =>
        new(name, arity, CommandFlags.None) { Group = "server", Summary = summary, Since = "4.0.0" };

    internal static CommandSpec ObjectSpec(string name, string summary) =>
        new(name, 3, CommandFlags.ReadOnly | CommandFlags.Quick, new KeySpec(2, 2, 1) { Usage = "RO" })
            { Group = "generic", Syntax = "key", Summary = summary, Since = "2.2.3", Misses = KeyMisses.None };

    /// <summary>Reads the fields of the record named by an argument, without counting as a use of it.</summary>
    internal static bool TryLook(ref Call call, int index, out FieldsLook look)
    {
        KeyRef key = call.KeyAt(index);
        look = default;
        return call.Session.Read(in key, ref look, quiet: true) == Outcome.Done;
    }
}

internal readonly struct MemoryUsage : ICommand
{
    private const int IndexBytesPerKey = 14; // a 64-byte bucket holds 7 keys at about two thirds full

    public static CommandSpec Spec => new("MEMORY|USAGE", -3, CommandFlags.ReadOnly | CommandFlags.Quick, new KeySpec(2, 2, 1) { Usage = "RO" }) { Group = "server", Syntax = "key [SAMPLES count]", Summary = "Returns the bytes a key takes, its share of the index included.", Since = "4.0.0", Misses = KeyMisses.None };

    public static Reply Run(ref Call call)
    {
        for (int i = 3; i < call.Count; i += 2)
        {
            if (!call.Is(i, "SAMPLES"u8) || i + 1 == call.Count)
                return call.Fail(Fault.Syntax);
            if (!call.TryInt64(i + 1, out long samples))
                return call.Fail(Fault.NotAnInteger);
            if (samples < 0)
                return call.Fail(Fault.Syntax);
        }

        KeyRef key = call.KeyAt(2);
        var look = default(FootprintLook);
        if (call.Session.Examine(in key, ref look, quiet: true) != Outcome.Done)
            return call.Null();
        return call.Int(look.Bytes + ((long)look.Records * IndexBytesPerKey));
    }
}

internal readonly struct MemoryStats : ICommand
{
    public static CommandSpec Spec => InspectCommands.MemorySpec("MEMORY|STATS", "Returns figures about memory.");

    public static Reply Run(ref Call call)
    {
        var moment = new Moment(call.Server);
        StoreFigures store = moment.Store;
        Backlog backlog = call.Server.Replication.Backlog;
        long keys = 0;
        for (int i = 0; i < call.Server.Settings.Memory.Databases; i++)
            keys += call.Server.Store.Count(call.Server.Store.Namespaces.Id(i));
        (string Name, long Value)[] figures =
        [
            ("peak.allocated", moment.PeakBytes), ("total.allocated", moment.UsedBytes),
            ("startup.allocated", store.FixedBytes),
            ("replication.backlog", Math.Min(backlog.Bytes, backlog.BytesMax)),
            ("clients.slaves", call.Server.Replication.Links.MemoryBytes),
            ("clients.normal", moment.ClientBytes), ("cluster.links", 0),
            ("aof.buffer", call.Server.Keeper?.Figures?.StagedBytes ?? 0), ("lua.caches", call.Server.Scripts.MemoryBytes),
            ("functions.caches", FunctionHost.Kept(call.Worker).MemoryBytes),
            ("overhead.total", moment.UsedBytes - store.LiveBytes), ("keys.count", keys),
            ("keys.bytes-per-key", keys == 0 ? 0 : store.LiveBytes / keys), ("dataset.bytes", store.LiveBytes),
        ];
        call.Out.Map(figures.Length);
        foreach ((string name, long value) in figures)
        {
            call.Out.Bulk(name);
            call.Out.Int(value);
        }

        return Reply.Sent;
    }
}

internal readonly struct MemoryDoctor : ICommand
{
    public static CommandSpec Spec => InspectCommands.MemorySpec("MEMORY|DOCTOR", "Judges the memory figures.");

    public static Reply Run(ref Call call)
    {
        StoreFigures store = call.Server.Store.Figures();
        string verdict = store.UsedBytes > store.LimitBytes * 0.95
            ? "Memory is nearly full: raise maxmemory, or set maxmemory-policy so that old keys make room."
            : "Nothing is wrong with memory.";
        call.Out.Verbatim(Encoding.ASCII.GetBytes(verdict + "\n"));
        return Reply.Sent;
    }
}

internal readonly struct MemoryPurge : ICommand
{
    public static CommandSpec Spec => InspectCommands.MemorySpec("MEMORY|PURGE", "Gives unused memory back; the server does so by itself.");

    public static Reply Run(ref Call call)
    {
        GC.Collect();
        return call.Ok();
    }
}

internal readonly struct MemoryMallocStats : ICommand
{
    public static CommandSpec Spec => InspectCommands.MemorySpec("MEMORY|MALLOC-STATS", "Returns figures of the allocator.");

    public static Reply Run(ref Call call)
    {
        call.Out.Verbatim(Encoding.ASCII.GetBytes(call.Server.Store.Figures() + "\n"));
        return Reply.Sent;
    }
}

internal readonly unsafe struct ObjectEncoding : ICommand
{
    private const int EmbeddedBytesMax = 44; // Redis's threshold between embstr and raw

    public static CommandSpec Spec => InspectCommands.ObjectSpec("OBJECT|ENCODING", "Returns how a value is kept, in Redis's terms.");

    public static Reply Run(ref Call call)
    {
        ReadOnlySpan<byte> name = Of(ref call, 2);
        return name.IsEmpty ? call.Null() : call.Bulk(name);
    }

    /// <summary>How the value of the key is kept; nothing if it is not there.</summary>
    internal static ReadOnlySpan<byte> Of(ref Call call, int index)
    {
        KeyRef key = call.KeyAt(index);
        byte* digits = stackalloc byte[32];
        var look = new EncodingLook { Digits = digits };
        if (call.Session.Read(in key, ref look, quiet: true) != Outcome.Done)
            return default;
        if (look.Kind != RecordKind.String)
            return EncodingName.Of(look.Kind, look.Flags);
        if (look.Length <= 20 && Garnet.Common.Bytes.NumberText.TryInt64(new ReadOnlySpan<byte>(digits, look.Length), out _))
            return "int"u8;
        return look.Length <= EmbeddedBytesMax ? "embstr"u8 : "raw"u8;
    }

    private struct EncodingLook : IRead
    {
        internal byte* Digits;
        internal int Length;
        internal RecordKind Kind;
        internal RootFlags Flags;

        public void Look(in RecordView record)
        {
            Kind = record.Kind;
            Flags = record.ValueBytes == 0 ? RootFlags.None : Root.Flags(record.Value);
            Length = record.ValueBytes;
            if (Length <= 20)
                record.ValueSpan.CopyTo(new Span<byte>(Digits, 32));
        }
    }
}

internal readonly struct ObjectFreq : ICommand
{
    public static CommandSpec Spec => InspectCommands.ObjectSpec("OBJECT|FREQ", "Returns how often a key is used, 0 to 3 (approximate).");

    public static Reply Run(ref Call call)
    {
        if (!InspectCommands.TryLook(ref call, 2, out FieldsLook look))
            return call.Null();
        if (!call.Server.Settings.Memory.Policy.IsByFrequency())
            return call.FailBytes("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when "u8 +
                "switching between policies at runtime LRU and LFU data will take some time to adjust."u8);
        return call.Int(look.Frequency);
    }
}

internal readonly struct ObjectIdleTime : ICommand
{
    public static CommandSpec Spec => InspectCommands.ObjectSpec("OBJECT|IDLETIME", "Returns 0 for a key that is there: no time of last use is kept.");

    public static Reply Run(ref Call call)
    {
        if (!InspectCommands.TryLook(ref call, 2, out FieldsLook look))
            return call.Null();
        if (call.Server.Settings.Memory.Policy.IsByFrequency())
            return call.FailBytes("ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching "u8 +
                "between policies at runtime LRU and LFU data will take some time to adjust."u8);
        return call.Int(0);
    }
}

internal readonly struct ObjectRefCount : ICommand
{
    public static CommandSpec Spec => InspectCommands.ObjectSpec("OBJECT|REFCOUNT", "Returns the number of references to a value: always 1.");

    public static Reply Run(ref Call call) => InspectCommands.TryLook(ref call, 2, out _) ? call.Int(1) : call.Null();
}
