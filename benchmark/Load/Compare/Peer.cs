using System.Diagnostics;
using System.Globalization;

namespace Garnet.Load.Compare;

/// <summary>
/// How one system is started. Paths are relative to the repository root. A name such as <c>redis+everysec</c> is a system that
/// writes a log, into a directory of its own.
/// </summary>
internal sealed record Peer(string Name, string Program, string Flags)
{
    private const string Directories = "artifacts/bench";
    private const int RingFileBytes = 256 << 20;

    /// <summary>Whether the server compiles itself while it runs and so needs the whole warm-up.</summary>
    public bool IsJitted => System != "redis";

    public bool InlineCompletions => System == "garnet-inline";

    /// <summary>The name without what is said about the log.</summary>
    public string System => Name.Split('+')[0];

    public bool HasLog => Name != System;

    /// <summary>Where the log goes; on the disk that holds the repository.</summary>
    public string Directory => Path.GetFullPath(Path.Combine(Directories, Name));

    public static Peer? Find(string name, CompareOptions options)
    {
        bool big = options.Set == "big", idle = options.Set == "idle";
        const string RedisFlags = "--port {0} --save \"\" --appendonly no --bind 127.0.0.1";
        string clients = idle ? " --maxclients 12000" : "";
        if (name.Contains('+', StringComparison.Ordinal)) return WithLog(name, options);
        Peer peer = name switch
        {
            "ours" => new Peer(name, "artifacts/bin/GarnetServer/release/garnet-server", $"{RedisFlags}{clients} {options.OursFlags}".TrimEnd()),
            "native" => new Peer(name, "artifacts/publish/GarnetServer/native/garnet-server", $"{RedisFlags}{clients} {options.OursFlags}".TrimEnd()),
            "redis" => new Peer(name, "redis-server", RedisFlags + " --protected-mode no" + clients),
            "garnet-inline" or "garnet-default" => new Peer(name, "artifacts/peer/garnet-server", "--bind 127.0.0.1 -q --port {0}" + (big ? " -m 4g --index 512m" : "")),
            // Its log in two parts, and what its replicas need so that a write is not held up by the disk.
            "garnet-p2" => new Peer(name, "artifacts/peer/garnet-server", "--bind 127.0.0.1 -q --port {0} --cluster --aof --aof-memory 256m --device-type RandomAccess --protected-mode no --fast-aof-truncate"
                + " --on-demand-checkpoint --aof-commit-freq -1 --repl-diskless-sync --repl-diskless-sync-delay 0 --aof-physical-sublog-count 2 --checkpointdir {1}"),
            _ => throw new ArgumentException($"no system is named {name}"),
        };
        return peer.Exists() ? peer : null;
    }

    /// <summary>Begins with an empty directory.</summary>
    public void Clear()
    {
        if (!HasLog) return;
        if (global::System.IO.Directory.Exists(Directory)) global::System.IO.Directory.Delete(Directory, recursive: true);
        global::System.IO.Directory.CreateDirectory(Directory);
        if (RingFile.Length == 0) return;
        using FileStream file = File.Create(RingFile);
        file.SetLength(RingFileBytes);
    }

    /// <summary>The file that stands for persistent memory under its log; empty without.</summary>
    public string RingFile { get; init; } = "";

    /// <summary>The flags as a report shows them.</summary>
    public string FlagsShown => string.Format(CultureInfo.InvariantCulture, Flags, "P", "D");

    private static Peer? WithLog(string name, CompareOptions options)
    {
        string[] parts = name.Split('+');
        bool hasRing = parts[1] == "pm";
        string common = "--port {0} --save \"\" --bind 127.0.0.1 --dir {1} --auto-aof-rewrite-percentage 0 --appendfsync "
            + (hasRing ? $"always --aof-pm-path {options.RingFile} --pm-emulated-trust yes" : parts[1]);
        Peer? plain = Find(parts[0], options);
        return plain is null ? null : plain with
        {
            Name = name,
            RingFile = hasRing ? options.RingFile : "",
            Flags = parts[0] switch
            {
                "ours" => $"{common} {options.OursFlags}".TrimEnd(),
                "redis" => common + " --appendonly yes --protected-mode no",
                // Its default device does not start on every kernel; RandomAccess does.
                _ => plain.Flags + " --aof --recover --checkpointdir {1} --device-type RandomAccess" + parts[1] switch { "aof1s" => " --aof-commit-freq 1000", "aofwait" => " --aof-commit-wait", _ => "" },
            },
        };
    }

    public ProcessStartInfo StartInfo(int port, int core)
    {
        string flags = string.Format(CultureInfo.InvariantCulture, Flags, port, Directory);
        ProcessStartInfo start = core < 0 ? new(Program, flags) : new("taskset", $"-c {core} {Program} {flags}");
        start.RedirectStandardOutput = start.RedirectStandardError = true;
        if (InlineCompletions) start.Environment["DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS"] = "1";
        return start;
    }

    public string Version(string commit)
    {
        if (System is "ours" or "native") return "commit " + commit;
        if (System != "redis") return "2.2.5";
        return Shell.Read(Program, "--version").Split(' ').FirstOrDefault(w => w.StartsWith("v=", StringComparison.Ordinal))?[2..] ?? "unknown";
    }

    private bool Exists()
    {
        if (Program.Contains('/', StringComparison.Ordinal)) return File.Exists(Program);
        string[] folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':');
        return Array.Exists(folders, f => File.Exists(Path.Combine(f, Program)));
    }
}
