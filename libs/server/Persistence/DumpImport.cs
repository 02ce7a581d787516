using Garnet.Common.Time;
using Garnet.Rdb;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>
/// The data of a Redis, taken from its file at the first start.
///
/// persistence.D4  An RDB file of Redis is imported as a whole, into an empty directory only, and is never written: as long as the directory has
///     nothing of its own, and it has it once a snapshot of all of it is durable.
/// </summary>
internal static class DumpImport
{
    /// <summary>Imports the file, if there is one; the directory is empty.</summary>
    internal static bool TryRun(ServerCore server, JobProgress progress)
    {
        PersistenceSettings settings = server.Settings.Persistence;
        string path = Path.Combine(settings.Directory, settings.ImportFile);
        if (server.Settings.Replication.ReplicaOf.Length > 0 || !File.Exists(path))
            return false;
        if (server.Settings.Memory.Policy == EvictionPolicy.NoEviction)
            server.Store.SetMemoryLimit(server.MemoryLimitBytes); // if it does not fit the start is refused, and the file stays where it is
        long began = server.Clock.MonotonicUs;
        using var file = new RdbFile(path);
        (ServerSettings all, long nowMs) = (server.Settings, server.Clock.UnixMs);
        using var import = new RdbImport(server.Store, file, all.Encoding, all.Memory.Databases, nowMs, progress);
        import.Run();
        server.Log.Imported(path, import.Keys, import.Expired, (server.Clock.MonotonicUs - began) / 1000);
        if (import.Skipped > 0)
            server.Log.Recovery($"{path} holds data of modules, which were left out ({import.Skipped} parts)");
        if (import.Functions > 0)
            server.Log.Recovery($"{path} held libraries of functions, {import.Functions} in number, which were taken");
        return true;
    }

    /// <summary>Says of a file that looks like one to be imported why it is not: a server that serves nothing must not pass for one that was restored.</summary>
    internal static void TellOfPassedOver(ServerCore server, bool isEmpty)
    {
        PersistenceSettings settings = server.Settings.Persistence;
        if (PassedOver(settings) is not { } path)
            return;
        string name = Path.GetFileName(path);
        (string why, string next) = server.Settings.Replication.ReplicaOf.Length > 0
            ? ("a replica gets its data from its primary (replicaof)", "To import it, start in an empty directory without replicaof")
            : !isEmpty ? ($"{settings.AppendDirectory} has data of its own",
                "Remove it if it is needed no more; to import it, start in an empty directory")
            : ($"dbfilename is {settings.ImportFile}",
                $"To import it, stop this server and start in an empty directory with --dbfilename {name}");
        server.Log.ImportPassedOver(path, why, next);
    }

    // The one that would be imported, or else any.
    private static string? PassedOver(PersistenceSettings settings)
    {
        string path = Path.Combine(settings.Directory, settings.ImportFile);
        if (File.Exists(path))
            return path;
        try
        {
            foreach (string other in Directory.EnumerateFiles(settings.Directory, "*.rdb"))
                return other;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // who may not read the directory can have no file there imported
        }

        return null;
    }
}
