using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Admin;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO, by section.</summary>
internal readonly struct Info : ICommand
{
    private static readonly (string Name, bool ByDefault, Action<InfoText> Write)[] Sections =
    [
        ("server", true, info => info.Server()),
        ("clients", true, info => info.Clients()),
        ("memory", true, info => info.Memory()),
        ("tiering", true, info => info.Tiering()),
        ("persistence", true, info => info.Persistence()),
        ("stats", true, info => info.Stats()),
        ("replication", true, info => info.Replication()),
        ("cpu", true, info => info.Cpu()),
        ("modules", true, info => info.Modules()),
        ("commandstats", false, info => info.CommandStats()),
        ("errorstats", true, info => info.ErrorStats()),
        ("latencystats", false, info => info.LatencyStats()),
        ("cluster", true, info => info.Cluster()),
        ("keyspace", true, info => info.Keyspace()),
    ];

    public static CommandSpec Spec => ServerCommands.Spec("INFO", -1, CommandFlags.Loading | CommandFlags.Stale, "[section [section ...]]", "Returns figures about the server.") with { Categories = "dangerous" };

    public static Reply Run(ref Call call)
    {
        var text = new StringBuilder(4096);
        var info = new InfoText(call.Server, text);
        foreach ((string name, bool byDefault, Action<InfoText> write) in Sections)
        {
            if (IsWanted(ref call, name, byDefault))
                write(info);
        }

        call.Out.Verbatim(Encoding.UTF8.GetBytes(text.ToString()));
        return Reply.Sent;
    }

    private static bool IsWanted(ref Call call, string name, bool byDefault)
    {
        if (call.Count == 1)
            return byDefault;
        for (int i = 1; i < call.Count; i++)
        {
            if (call.Is(i, "ALL"u8) || call.Is(i, "EVERYTHING"u8) || (byDefault && call.Is(i, "DEFAULT"u8)) || Ascii.EqualsIgnoreCase(call[i], name))
                return true;
        }

        return false;
    }
}
