using Garnet.Server.Commands;
using Garnet.Server.Families.Acl;
using Garnet.Server.Families.Admin;
using Garnet.Server.Families.Bits;
using Garnet.Server.Families.Bulk;
using Garnet.Server.Families.Counters;
using Garnet.Server.Families.Geo;
using Garnet.Server.Families.Hashes;
using Garnet.Server.Families.HyperLogLogs;
using Garnet.Server.Families.Inspect;
using Garnet.Server.Families.Keys;
using Garnet.Server.Families.Lists;
using Garnet.Server.Families.Persistence;
using Garnet.Server.Families.PubSub;
using Garnet.Server.Families.Rdb;
using Garnet.Server.Families.Replication;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Families.Scripting.Functions;
using Garnet.Server.Families.Sessions;
using Garnet.Server.Families.Sets;
using Garnet.Server.Families.SortedSets;
using Garnet.Server.Families.Streams;
using Garnet.Server.Families.Strings;
using Garnet.Server.Families.Tags;
using Garnet.Server.Families.Tiering;
using Garnet.Server.Families.Transactions;
using Tsavorite;

namespace Garnet.Server;

/// <summary>
/// The families of commands, a line each and nothing else: what they register in the table of commands, by which operations a log is replayed,
/// and what each reactor has of them.
/// </summary>
internal static class CommandFamilies
{
    internal static void Register(CommandTable table)
    {
        StringCommands.Register(table);
        ManyCommands.Register(table);
        CompareCommands.Register(table);
        TagCommands.Register(table);
        BulkCommands.Register(table);
        CounterCommands.Register(table);
        BitCommands.Register(table);
        HyperLogLogCommands.Register(table);
        HashCommands.Register(table);
        SetCommands.Register(table);
        ListCommands.Register(table);
        BlockingListCommands.Register(table);
        SortedSetCommands.Register(table);
        BlockingSortedSetCommands.Register(table);
        GeoCommands.Register(table);
        StreamCommands.Register(table);
        GroupCommands.Register(table);
        InfoCommands.Register(table);
        TierCommands.Register(table);
        KeyCommands.Register(table);
        SortCommands.Register(table);
        DumpCommands.Register(table);
        ExpiryCommands.Register(table);
        ScanCommands.Register(table);
        DatabaseCommands.Register(table);
        ConnectionCommands.Register(table);
        ClientCommands.Register(table);
        AclCommands.Register(table);
        PubSubCommands.Register(table);
        TransactionCommands.Register(table);
        ScriptCommands.Register(table);
        FunctionCommands.Register(table);
        ServerCommands.Register(table);
        SaveCommands.Register(table);
        BackupCommands.Register(table);
        ReplicationCommands.Register(table);
        SyncCommands.Register(table);
        StateCommands.Register(table);
        ConfigCommands.Register(table);
        CommandCommands.Register(table);
        InspectCommands.Register(table);
        DebugCommands.Register(table);
        table.Add<Info>();
    }

    /// <summary>Those that have a state on each reactor.</summary>
    internal static IWorkerFamilies OnWorkers { get; } = new WorkerFamilies();

    /// <summary>The operations of all families, for whoever replays a log.</summary>
    internal static ReplayTable Replay()
    {
        var table = new ReplayTable();
        StringCommands.Replay(table);
        CompareCommands.Replay(table);
        TagCommands.Replay(table);
        CounterCommands.Replay(table);
        BitCommands.Replay(table);
        HyperLogLogCommands.Replay(table);
        HashCommands.Replay(table);
        SetCommands.Replay(table);
        ListCommands.Replay(table);
        SortedSetCommands.Replay(table);
        StreamCommands.Replay(table);
        GroupCommands.Replay(table);
        KeyCommands.Replay(table);
        return table;
    }
}
