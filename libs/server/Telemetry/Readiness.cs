using System.Globalization;
using Garnet.Server.Commands;
using Garnet.Server.Replication;

namespace Garnet.Server.Telemetry;

/// <summary>
/// Whether clients should be sent here, condition by condition. Reasons name no paths and no addresses: whoever reaches the port reads them; the log says more.
/// </summary>
internal static class Readiness
{
    internal static ReadyCondition[] Of(ServerContext server) =>
    [
        new("serving", server.Workers.All.Any(static worker => worker.IsStopping) ? "the server stops" : ""),
        new("loaded", LoadProblem(server)),
        new("caught-up", LagProblem(server)),
        new("writable", WriteProblem(server)),
        new("snapshot", SnapshotProblem(server)),
    ];

    private static string LoadProblem(ServerContext server)
    {
        if (server.Replication.IsLoading)
            return "all data is coming from the primary";
        if (server.Keeper is not { Loading: true } keeper)
            return "";
        long total = keeper.Progress.TotalBytes, done = keeper.Progress.DoneBytes;
        return total == 0 ? "the data is being loaded" : Text($"the data is being loaded: {100.0 * done / total:F0} %");
    }

    private static string LagProblem(ServerContext server)
    {
        if (!server.Replication.IsReplica)
            return "";
        if (server.Replication.Role.Following is not { IsUp: true })
            return "the link to the primary is down";
        long lagMs = new Moment(server).LagMs, lagMsMax = server.Settings.Admin.ReadyLagMilliseconds;
        return lagMs <= lagMsMax ? "" : Text($"it is {lagMs} ms behind its primary, at most {lagMsMax} ms are allowed (admin-ready-lag)");
    }

    private static string WriteProblem(ServerContext server)
    {
        if (server.Keeper?.Trouble is not null)
            return "the append-only file cannot be written";
        if (server.Replication.IsReplica)
            return ""; // it takes none, and is there to be read
        if (server.Replication.Access.LacksReplicas)
            return "fewer replicas are near than min-replicas-to-write asks for";
        return ""; // full is no reason: it can be read, and a server that is sent nobody stays full
    }

    private static string SnapshotProblem(ServerContext server)
    {
        long ageMax = server.Settings.Admin.ReadySnapshotAgeSeconds;
        if (ageMax == 0 || server.Keeper?.Saves is not { } saves)
            return "";
        if (saves.LastFailed)
            return "the last snapshot failed";
        long age = Math.Max(server.Clock.UnixMs - saves.LastSaveMs, 0) / 1000;
        return age <= ageMax ? ""
            : Text($"the last snapshot is {age} s old, at most {ageMax} s are allowed (admin-ready-snapshot-age)");
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
