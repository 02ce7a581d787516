using Garnet.Common;

namespace Garnet.Migration;

/// <summary>The two ends of a migration, looked at before anything is removed or promised: which servers they are, and in which roles.</summary>
internal static class Ends
{
    private const int BetweenTriesMs = 1000;

    /// <summary>Throws where source and target are no two servers, or one cannot be what it has to be. False if it was told to end.</summary>
    internal static bool TryDemand(MigrationOptions options, MigrationLines lines, CancellationToken ends)
    {
        long untilMs = Environment.TickCount64 + (options.Source.WaitSeconds * 1000L);
        while (true)
        {
            try
            {
                Demand(options, lines);
                return true;
            }
            catch (PassingException e) when (Environment.TickCount64 < untilMs)
            {
                lines.Tell("waiting", $"waiting: {e.Message}");
                if (ends.WaitHandle.WaitOne(BetweenTriesMs))
                    return false;
            }
        }
    }

    private static void Demand(MigrationOptions options, MigrationLines lines)
    {
        ServerState source = ServerState.Of(options.Source), target = ServerState.Of(options.Target);
        if (source.RunId.Length > 0 && source.RunId == target.RunId)
        {
            throw Wrong($"{options.Source} and {options.Target} are the same server",
                "what is copied would be removed or written over", "Name the server that is to get the data behind the one that has them");
        }
        if (target.IsReplica)
        {
            throw Wrong($"the target {options.Target} is a replica (READONLY)", "what it holds is given to it by its primary",
                "Name its primary, or make it one with REPLICAOF NO ONE");
        }
        if ((source.IsReplica && source.SharesDataWith(target)) || !source.IsLinked)
        {
            throw Wrong($"{options.Source} is a replica of {options.Target}, or has no link to its primary",
                source.IsLinked ? "both have the same replication id" : "its data may be those of any moment, and whose is not known",
                "Name the primary as the source and another server as the target");
        }
        if (options.CutsOver)
            DemandMaster(options.Source, source);
        if (target.Evicts)
        {
            lines.Say("warning", $"Mind: {options.Target} has maxmemory-policy {target.Policy}. "
                + "If the data do not fit it deletes keys without a word; --maxmemory-policy noeviction has it say so.");
        }
    }

    /// <summary>Throws where a source is not who takes the writes: its pause holds nobody's back, and what comes after the end is lost.</summary>
    internal static void DemandMaster(ServerAddress address, ServerState source)
    {
        if (!source.IsMaster)
        {
            throw Wrong($"{address} cannot be cut over", source.IsReplica ? "it is a replica, and writers go on at its primary"
                : "it does not say role:master (INFO replication)", "Name the primary as the source");
        }
    }

    private static GarnetException Wrong(string what, string why, string next) => new(ExitKind.Configuration, what, why, next);
}
