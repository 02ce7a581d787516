using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Common;
using Garnet.Server.Backups;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Backups;

/// <summary>A server that takes backups into a folder of its own, by a clock that a test sets; and servers that are restored from these.</summary>
internal sealed class BackupStage : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("garnet-backup").FullName;
    private readonly EmbeddedServer _server;
    private int _restored;

    /// <summary>A server, with what a test puts before the disk of its backups, and before it starts.</summary>
    public BackupStage(Func<IDisk, IDisk>? before = null, Action<ServerSettings>? adjust = null, params string[] there)
    {
        Directory.CreateDirectory(Folder);
        foreach (string name in there) File.WriteAllText(Path.Combine(Folder, name), "of somebody else");
        _server = new EmbeddedServer(clock: Clock, lines: Log, adjust: settings =>
        {
            settings.Backups.Path = Folder;
            settings.Backups.Before = before;
            settings.Memory.Databases = 16;
            adjust?.Invoke(settings);
        });
        Client = Connect();
    }

    public string Folder => Path.Combine(_root, "backups");

    public ShiftedClock Clock { get; } = new();

    public RecordedLines Log { get; } = new();

    public TestClient Client { get; }

    public BackupJob Backups => _server.Server.Context.Backups;

    public RespServer Server => _server.Server;

    public string[] Files => [.. Directory.EnumerateFiles(Folder).Select(static file => Path.GetFileName(file)).Order(StringComparer.Ordinal)];

    public TestClient Connect() => new(_server.Server.Port);

    /// <summary>A backup that comes to its end, however that is.</summary>
    public void Take()
    {
        Assert.That(Client.Call("BACKUP", "NOW"), Is.EqualTo("Background backup started"));
        Await();
    }

    public void Await() => Eventually.Holds(() => !Backups.IsRunning);

    /// <summary>The newest backup.</summary>
    public string Newest => Path.Combine(Folder, Backups.Known[0].Name.ToString());

    public string Info(string field) => Client.Call("INFO", "persistence").Split("\r\n").Single(line => line.StartsWith(field + ":", StringComparison.Ordinal))[(field.Length + 1)..];

    /// <summary>A server over what is restored from the newest backup.</summary>
    public EmbeddedServer Restored(string keyFile = "")
    {
        string directory = Path.Combine(_root, $"restored{++_restored}");
        var place = new PersistenceSettings { Directory = directory };
        Assert.That(BackupTool.Restore(Newest, place, keyFile, isDryRun: false, static _ => { }, static _ => { }), Is.Zero);
        string data = Path.Combine(directory, "appendonlydir");
        Directory.CreateDirectory(data);
        var server = new EmbeddedServer(directory: DataDirectory.Open(data, static path => new FileDisk(path)), adjust: settings => settings.Persistence.Directory = directory);
        Assert.That(server.Server.Loaded.Wait(60_000), Is.True);
        return server;
    }

    /// <summary>All that a server holds, as a number for each share.</summary>
    public static IReadOnlyList<ulong> DigestOf(RespServer server) => StoreDigest.Of(server.Store, server.Settings.Memory.Databases).Sums;

    public void Dispose()
    {
        Client.Dispose();
        _server.Dispose();
        Directory.Delete(_root, recursive: true);
    }
}
