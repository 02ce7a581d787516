using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Tiers;

/// <summary>GETs of values by where they lie: in memory, in persistent memory, on the SSD. Nothing moves meanwhile.</summary>
internal static class PlacedReads
{
    private const int MemoryMiB = 64, PmMiB = 128, Keys = 600_000, ValueBytes = 640, AskedAtOnce = 256;

    /// <summary>Of each place. So many that each is read anew: what was fetched from the SSD is kept for a tenth of a second.</summary>
    private const int KeysOfPlace = 1 << 15;

    /// <summary>As TIER.WHERE says it.</summary>
    private static readonly string[] Places = ["memory", "pm", "tier"];

    private static readonly (int Pipeline, int Connections)[] Loads = [(1, 1), (16, 16)];

    public static void Run(CompareOptions options, Report report)
    {
        string directory = Directory.CreateDirectory(options.PmPath).FullName;
        Peer peer = TierServer.Ours(options, MemoryMiB << 20, hasTier: true, $"--tier-pm-path {directory} --tier-pm-size {PmMiB}mb --tier-promotion no");
        peer.Clear();
        using TierServer server = TierServer.StartAlone(options, peer);
        LargerThanMemory.Fill(server, Keys, [ValueBytes]);
        if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
        report.Line($"{Keys:N0} values of {ValueBytes} bytes, {MemoryMiB} MiB of memory, {PmMiB} MiB of persistent memory ({server.Running.Field("tiering", "tier_pm_domain")}, in {directory}) and an SSD; "
            + $"GET of {KeysOfPlace:N0} values of each place, `--tier-promotion no`; {options.Rounds} rounds in turns; medians, ratios of CPU ns/op to memory [min-max].");
        report.Line("");
        Dictionary<string, uint[]> keys = Find(server);
        report.Head("load", "values in", "GET/s", "server CPU ns/op", "by memory", "p50 us", "p99 us", "looked at in persistent memory, of the GETs", "read from the SSD, of the GETs");
        foreach ((int pipeline, int connections) in Loads) Measure(options, report, server, keys, pipeline, connections);
        report.Line("");
    }

    private static void Measure(CompareOptions options, Report report, TierServer server, Dictionary<string, uint[]> keys, int pipeline, int connections)
    {
        Dictionary<string, List<Measured>> runs = Places.ToDictionary(static place => place, static _ => new List<Measured>());
        Dictionary<string, (double InPlace, double FromDisk)> shares = [];
        for (int round = -1; round < options.Rounds; round++) // the first warms up
        {
            foreach (string place in Places)
            {
                Workload workload = new("get", pipeline, ValueBytes, new KeyStream(keys[place]), check: false);
                using Generator generator = new(workload, new GeneratorSettings
                {
                    Server = server.Running.Server, Connections = connections, Seconds = options.CellSeconds, ServerPid = server.Running.Pid,
                });
                long inPlace = server.Figure("tier_pm_reads"), fromDisk = server.Figure("tier_ssd_reads");
                Measured run = generator.Run();
                if (run.Errors + run.Nils > 0) throw new InvalidDataException($"GET of what lies in {place}: {run.Nils} nils, {run.FirstError}");
                shares[place] = ((server.Figure("tier_pm_reads") - inPlace) / (double)run.Replies, (server.Figure("tier_ssd_reads") - fromDisk) / (double)run.Replies);
                if (round >= 0) runs[place].Add(run);
            }
        }
        foreach (string place in Places)
        {
            List<Measured> of = runs[place];
            string Us(Func<Measured, long> pick) => Statistics.Text(Statistics.Median(of.Select(m => pick(m) / 1e3)), "F0");
            report.Row([$"p{pipeline} c{connections}", place switch { "tier" => "SSD", "pm" => "persistent memory", _ => place },
                Statistics.Text(Statistics.Median(of.Select(static m => m.OpsPerSecond)), "N0"), Statistics.Text(Statistics.Median(of.Select(static m => m.ServerNs)), "F0"),
                Statistics.Spread([.. of.Zip(runs[Places[0]], static (a, b) => a.ServerNs / b.ServerNs)], "F2"), Us(static m => m.P50), Us(static m => m.P99),
                Statistics.Text(shares[place].InPlace, "F2"), Statistics.Text(shares[place].FromDisk, "F2")]);
        }
    }

    // Asks key after key, every seventh, until there are enough of each place.
    private static Dictionary<string, uint[]> Find(TierServer server)
    {
        const int Step = 7;
        Dictionary<string, List<uint>> found = Places.ToDictionary(static place => place, static _ => new List<uint>());
        using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(server.Running.Server);
        using StreamReader replies = new(new NetworkStream(socket), Encoding.ASCII);
        for (int begun = 0; begun < Keys && found.Values.Any(static list => list.Count < KeysOfPlace); begun += AskedAtOnce)
        {
            uint[] asked = [.. Enumerable.Range(begun, Math.Min(AskedAtOnce, Keys - begun)).Select(static i => (uint)((long)i * Step % Keys))];
            socket.Send(Encoding.ASCII.GetBytes(string.Concat(asked.Select(static key => string.Create(CultureInfo.InvariantCulture, $"TIER.WHERE key:{key:D12}\r\n")))));
            foreach (uint key in asked)
            {
                if (found.TryGetValue(PlaceOf(replies), out List<uint>? of) && of.Count < KeysOfPlace) of.Add(key);
            }
        }
        if (found.FirstOrDefault(static of => of.Value.Count < KeysOfPlace) is { Key: { } place, Value.Count: var count })
            throw new InvalidDataException($"only {count} values lie in {place}");
        return found.ToDictionary(static of => of.Key, static of => of.Value.ToArray());
    }

    // A map of six, of which the second says where: as text, line by line; or a null.
    private static string PlaceOf(StreamReader replies)
    {
        const int Where = 4, Lines = 10;
        string head = replies.ReadLine() ?? throw new IOException("the server closed the connection");
        if (!head.StartsWith("*6", StringComparison.Ordinal)) throw new InvalidDataException("TIER.WHERE: " + head);
        string place = "";
        for (int line = 1; line <= Lines; line++)
        {
            string text = replies.ReadLine() ?? "";
            if (line == Where) place = text;
        }
        return place;
    }
}
