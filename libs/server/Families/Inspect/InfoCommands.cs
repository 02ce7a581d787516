using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Admin;
using Garnet.Server.Families.Replication;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO, by section.</summary>
internal readonly struct Info : ICommand
{
    private static readonly (string Name, bool ByDefault, Action<InfoText> Write)[] Sections =
    [
        ("server", true, ServerText.Server),
        ("clients", true, ClientsText.Write),
        ("memory", true, MemoryText.Write),
        ("tiering", true, TierText.Write),
        ("persistence", true, PersistenceText.Write),
        ("stats", true, StatsText.Write),
        ("replication", true, static info => new ReplicationText(info.Moment).Write(info.Section, info.Field, info.Field)),
        ("cpu", true, ServerText.Cpu),
        ("modules", true, ServerText.Modules),
        ("commandstats", false, CommandText.Calls),
        ("errorstats", true, CommandText.Errors),
        ("latencystats", false, CommandText.Percentiles),
        ("cluster", true, ServerText.Cluster),
        ("keyspace", true, StatsText.Keyspace),
    ];

    public static CommandSpec Spec => ServerCommands.Spec("INFO", -1, CommandFlags.Loading | CommandFlags.Stale, "[section [section ...]]", "Returns figures about the server.") with { Categories = "dangerous" };

    public static Reply Run(ref Call call)
    {
        var info = new InfoText(call.Server, call.Worker);
        foreach ((string name, bool byDefault, Action<InfoText> write) in Sections)
        {
            if (IsWanted(ref call, name, byDefault))
                write(info);
        }

        call.Out.Verbatim(info.Bytes);
        return Reply.Sent;
    }

    private static bool IsWanted(ref Call call, string name, bool byDefault)
    {
        if (call.Count == 1)
            return byDefault;
        for (int i = 1; i < call.Count; i++)
        {
            if (call.Is(i, "ALL"u8) || call.Is(i, "EVERYTHING"u8) || (byDefault && call.Is(i, "DEFAULT"u8))
                || Ascii.EqualsIgnoreCase(call[i], name))
                return true;
        }

        return false;
    }
}
