using Garnet.Common.Faults;

namespace Garnet.Server.Rights;

/// <summary>
/// The table of reasons: whoever adds one gives it a member of <see cref="DenialReason"/>, behind which ACL LOG and the audit trail show it by its name, and here its row. The
/// rule that asks (<c>RightsCheck</c>), the replies (<c>UserRefusals</c>) and the figures read them.
///
/// Ranks are the numbers that Redis gives to reasons, and Valkey to the last: of several selectors that refuse a command, the refusal that is told is that with the highest, and among
/// equals that of the argument furthest behind. They say nothing of the order in which <c>RightsCheck</c> asks.
/// </summary>
internal static class DenialReasons
{
    private static readonly DenialRow[] Table =
    [
        new(DenialReason.Auth, Rank: 3, Texts: null, new DenialFigure("auth", "Wrong names or passwords.")),
        new(DenialReason.Command, Rank: 1, new DenialTexts
        {
            Reply = static command => $"this user has no permissions to run the '{command}' command",
            InScript = "The user executing the script can't run this command or subcommand",
            AtExec = "no permission to execute the command or subcommand",
            Explained = static (command, _) => $"This user has no permissions to run the '{command}' command",
        }, new DenialFigure("cmd", "Commands that users may not run.")),
        new(DenialReason.Key, Rank: 2, new DenialTexts
        {
            Reply = static _ => "this user has no permissions to access one of the keys used as arguments",
            InScript = "The user executing the script can't access at least one of the keys mentioned in the command arguments",
            AtExec = "no permission to touch the specified keys",
            Explained = static (_, argument) => $"This user has no permissions to access the '{argument}' key",
        }, new DenialFigure("key", "Keys that users may not use.")),
        new(DenialReason.Channel, Rank: 4, new DenialTexts
        {
            Reply = static _ => "this user has no permissions to access one of the channels used as arguments",
            InScript = "The user executing the script can't publish to the channel mentioned in the command",
            AtExec = "no permission to access one of the channels used as arguments",
            Explained = static (_, argument) => $"This user has no permissions to access the '{argument}' channel",
        }, new DenialFigure("channel", "Channels that users may not use.")),
        new(DenialReason.Database, Rank: 5, new DenialTexts
        {
            Reply = static _ => "No permissions to access database",
            InScript = "The user executing the script can't access the database that the command looks into",
            AtExec = "no permission to access the database",
            Explained = static (_, _) => "This user has no permissions to access database",
        }, new DenialFigure("db", "Databases that users may not use.")),
    ];

    private static readonly DenialRow?[] ByReason = Placed();

    /// <summary>All rows, in the order in which INFO shows their figures.</summary>
    internal static IReadOnlyList<DenialRow> All => Table;

    /// <summary>How many reasons there are, with that of who was not refused.</summary>
    internal static int Count => Table.Length + 1;

    /// <summary>True if this refusal is told rather than the other.</summary>
    internal static bool Outranks(this DenialReason reason, DenialReason other) => RankOf(reason) > RankOf(other);

    /// <summary>What somebody is told who was refused a command for it.</summary>
    internal static DenialTexts Texts(this DenialReason reason)
    {
        DenialTexts? texts = ByReason[(int)reason]?.Texts;
        Check.That(texts is not null, $"{reason} refuses a command and has no texts in the table of reasons");
        return texts!;
    }

    private static int RankOf(DenialReason reason) => ByReason[(int)reason]!.Rank;

    // Not asked of the enumeration: that is by reflection, a millisecond of every start.
    private static DenialRow?[] Placed()
    {
        var rows = new DenialRow?[Count];
        foreach (DenialRow row in Table)
            rows[(int)row.Reason] = row;
        Check.That(Array.FindIndex(rows, 1, static row => row is null) < 0, "a reason has no row in the table of reasons");
        return rows;
    }
}
