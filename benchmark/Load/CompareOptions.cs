using CommandLine;

namespace Garnet.Load;

[Verb("compare", HelpText = "Starts several servers and runs the same cells against all of them, taking turns.")]
internal sealed class CompareOptions
{
    [Option("systems", Default = "ours,redis,garnet-inline,garnet-default", HelpText = "ours, native, redis, garnet-inline, garnet-default, and for the set replica garnet-p2; ratios are first : each other. With a log: ours+everysec, redis+always, garnet-inline+aof1s, ours+pm (a ring in persistent memory) and so on.")]
    public string Systems { get; set; } = "";

    [Option("set", Default = "smoke", HelpText = "smoke, collections, commands, big, start, idle, durable, always, pm, recover, snapshot, replica, tiers, movers or bulk.")]
    public string Set { get; set; } = "";

    [Option("rounds", Default = 5)]
    public int Rounds { get; set; }

    [Option("cell-seconds", Default = 0.4, HelpText = "Measured time per cell, system and round.")]
    public double CellSeconds { get; set; }

    [Option("warmup", Default = 20.0, HelpText = "Seconds of mixed load after the start; servers that are not compiled at run time get a tenth.")]
    public double Warmup { get; set; }

    [Option("big-keys", Default = 5_000_000L, HelpText = "Keys of the sets big, recover and snapshot.")]
    public long BigKeys { get; set; }

    [Option("only", Default = "", HelpText = "Run only cells whose name contains this text.")]
    public string Only { get; set; } = "";

    [Option("memory-mib", Default = 256L, HelpText = "Memory of the servers in the set tiers; the data is ten times as much.")]
    public long MemoryMiB { get; set; }

    [Option("memory-group", Default = "/sys/fs/cgroup/memory/garnet-bench", HelpText = "Control group, made anew, that holds each server of the set tiers together with its share of the system's cache of files, to its memory and 256 MiB; without such groups (version 1) nothing holds it.")]
    public string MemoryGroup { get; set; } = "";

    [Option("trace", Default = "", HelpText = "File of requests (lines of a time and the numbers of blocks, gzip) that the set tiers plays back.")]
    public string Trace { get; set; } = "";

    [Option("ours-flags", Default = "", HelpText = "Further flags for our server.")]
    public string OursFlags { get; set; } = "";

    [Option("ring-file", Default = "/dev/shm/garnet-bench.ring", HelpText = "File of the ring of ours+pm, made anew: in memory it costs what persistent memory's instructions cost, and is as lasting as memory.")]
    public string RingFile { get; set; } = "";

    [Option("pm-path", Default = "/dev/shm/garnet-bench-pm", HelpText = "Directory of the tier's part in persistent memory in the set pm; in memory, what is said of ring-file.")]
    public string PmPath { get; set; } = "";

    [Option("server-core", Default = 0, HelpText = "Core of the servers; -1 leaves them unpinned.")]
    public int ServerCore { get; set; }

    [Option("replica-core", Default = 0, HelpText = "Core of the replicas in the set replica.")]
    public int ReplicaCore { get; set; }

    [Option("generator-core", Default = 1, HelpText = "Core of the generator; -1 leaves it unpinned.")]
    public int GeneratorCore { get; set; }

    [Option("results", Default = "", HelpText = "File that the tables are appended to.")]
    public string Results { get; set; } = "";

    [Option("note", Default = "", HelpText = "A sentence printed above the table.")]
    public string Note { get; set; } = "";
}
