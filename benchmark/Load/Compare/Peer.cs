using System.Diagnostics;
using System.Globalization;

namespace Garnet.Load.Compare;

/// <summary>How one system is started. Paths are relative to the repository root.</summary>
internal sealed record Peer(string Name, string Program, string Flags)
{
    /// <summary>Whether the server compiles itself while it runs and so needs the whole warm-up.</summary>
    public bool IsJitted => Name != "redis";

    public bool InlineCompletions => Name == "garnet-inline";

    public static Peer? Find(string name, CompareOptions options)
    {
        bool big = options.Set == "big", idle = options.Set == "idle";
        const string RedisFlags = "--port {0} --save \"\" --appendonly no --bind 127.0.0.1";
        string clients = idle ? " --maxclients 12000" : "";
        Peer peer = name switch
        {
            "ours" => new Peer(name, "artifacts/bin/GarnetServer/release/garnet-server", $"{RedisFlags}{clients} {options.OursFlags}".TrimEnd()),
            "redis" => new Peer(name, "redis-server", RedisFlags + " --protected-mode no" + clients),
            "garnet-inline" or "garnet-default" => new Peer(name, "artifacts/peer/garnet-server", "--bind 127.0.0.1 -q --port {0}" + (big ? " -m 4g --index 512m" : "")),
            _ => throw new ArgumentException($"no system is named {name}"),
        };
        return peer.Exists() ? peer : null;
    }

    public ProcessStartInfo StartInfo(int port, int core)
    {
        string flags = string.Format(CultureInfo.InvariantCulture, Flags, port);
        ProcessStartInfo start = core < 0 ? new(Program, flags) : new("taskset", $"-c {core} {Program} {flags}");
        start.RedirectStandardOutput = start.RedirectStandardError = true;
        if (InlineCompletions) start.Environment["DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS"] = "1";
        return start;
    }

    public string Version(string commit)
    {
        if (Name == "ours") return "commit " + commit;
        if (Name != "redis") return "2.2.5";
        return Shell.Read(Program, "--version").Split(' ').FirstOrDefault(w => w.StartsWith("v=", StringComparison.Ordinal))?[2..] ?? "unknown";
    }

    private bool Exists()
    {
        if (Program.Contains('/', StringComparison.Ordinal)) return File.Exists(Program);
        string[] folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':');
        return Array.Exists(folders, f => File.Exists(Path.Combine(f, Program)));
    }
}
