using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Tiers;

/// <summary>What a tier costs while all is in memory and nothing has ever gone to it: the same server without one and with one, in turns.</summary>
internal static class HotValues
{
    private const int Connections = 16, ValueBytes = 64, MemoryMiB = 1024, FillTimes = 3, FillPipeline = 100;
    private const long Keys = 100_000, StreamEntries = 20_000;

    // Some 95 of 100 members are there once each was drawn three times.
    private static readonly (string Command, long Keys)[] Fills =
        [("SET key:# %", Keys), ("HSET hl f:# %", Keys), ("ZADD zl # m:#", Keys), ("RPUSH ll %", Keys), ("SADD sl m:#", Keys), ("XADD xl * f %", StreamEntries)];

    private static readonly (string Commands, int Pipeline)[] Loads =
    [
        .. from command in (string[])["GET key:#", "SET key:# %"] from pipeline in (int[])[1, 16, 100] select (command, pipeline),
        .. from command in (string[])["HSET hl f:# %", "ZADD zl # m:#", "LPUSH ll % ; RPOP ll", "SADD sl x:# ; SREM sl x:#", "XADD xl MAXLEN ~ 20000 * f %"] select (command, 16),
    ];

    public static void Run(CompareOptions options, Report report)
    {
        const long Memory = (long)MemoryMiB << 20;
        using TierServer without = TierServer.StartAlone(options, TierServer.Ours(options, Memory, hasTier: false));
        using TierServer with = TierServer.StartAlone(options, TierServer.Ours(options, Memory, hasTier: true));
        TierServer[] servers = [without, with];
        foreach (TierServer server in servers) Fill(server);
        report.Line($"{Keys:N0} strings of {ValueBytes} bytes, a hash, a sorted set, a list and a set of so many elements, a stream of {StreamEntries:N0}, in {MemoryMiB} MiB; "
            + $"c{Connections}, {options.Rounds} rounds in turns of {options.CellSeconds} s; medians, ratios of CPU ns/op without a tier to those with one [min-max].");
        report.Line("");
        report.Head("load", "without: server CPU ns/op", "with", "without : with");
        foreach (TierServer server in servers)
        {
            foreach ((string commands, int pipeline) in Loads) Measure(server, commands, pipeline, options.Warmup / Loads.Length);
        }
        foreach ((string commands, int pipeline) in Loads)
        {
            List<double>[] ns = [[], []];
            for (int round = 0; round < options.Rounds; round++)
            {
                for (int turn = 0; turn < servers.Length; turn++)
                {
                    int which = (round + turn) % servers.Length; // neither is always the second
                    ns[which].Add(Measure(servers[which], commands, pipeline, options.CellSeconds).ServerNs);
                }
            }
            string[] medians = [.. ns.Select(static of => Statistics.Text(Statistics.Median(of), "F0"))];
            report.Row([$"{commands} p{pipeline}", .. medians, Statistics.Spread([.. ns[0].Zip(ns[1], static (off, on) => off / on)], "F2")]);
        }
        if (with.Figure("tier_cold_records") != 0) throw new InvalidDataException("something went to the tier: it was not all in memory");
    }

    private static void Fill(TierServer server)
    {
        foreach ((string command, long keys) in Fills)
        {
            Workload workload = new(command, FillPipeline, ValueBytes, new KeyStream(keys, KeyOrder.Uniform), check: false);
            bool isByName = command.Contains("f:", StringComparison.Ordinal) || command.Contains("m:", StringComparison.Ordinal) || command.Contains("key:", StringComparison.Ordinal);
            GeneratorSettings settings = new() { Server = server.Running.Server, BatchesMax = keys * (isByName ? FillTimes : 1) / FillPipeline };
            using Generator generator = new(workload, settings);
            Measured filled = generator.Run();
            if (filled.Errors > 0) throw new InvalidDataException($"{server.Running.Peer.Name} refused {filled.Errors} writes: {filled.FirstError}");
        }
    }

    private static Measured Measure(TierServer server, string commands, int pipeline, double seconds)
    {
        Workload workload = new(commands, pipeline, ValueBytes, new KeyStream(Keys, KeyOrder.Uniform), check: false);
        using Generator generator = new(workload, new GeneratorSettings { Server = server.Running.Server, Connections = Connections, Seconds = seconds, ServerPid = server.Running.Pid });
        Measured run = generator.Run();
        return run.Errors == 0 ? run : throw new InvalidDataException($"{commands}: {run.FirstError}");
    }
}
