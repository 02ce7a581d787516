using System.Globalization;
using System.Net;
using System.Text.Json;
using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load;

/// <summary>The verb <c>run</c>: one load against one server.</summary>
internal static class RunVerb
{
    private const int FillConnections = 8, FillPipeline = 100;
    private static readonly JsonSerializerOptions Indented = new() { WriteIndented = true };

    public static int Run(RunOptions options)
    {
        Dial.RaiseDescriptorLimit();
        if (options.Core >= 0) Cores.PinThread(options.Core);
        IPEndPoint server = new(IPAddress.Parse(options.Host), options.Port);
        if (options.Fill) Fill(server, options.Keys, options.ValueBytes, options.Verify);
        KeyOrder order = options.Distribution == "zipf" ? KeyOrder.Zipf : KeyOrder.Uniform;
        Workload workload = new(options.Operation, options.Pipeline, options.ValueBytes, new KeyStream(options.Keys, order), options.Verify);
        GeneratorSettings settings = new()
        {
            Server = server,
            Connections = options.Connections,
            WarmupSeconds = options.Warmup,
            Seconds = options.Seconds,
            Rate = options.Rate,
            ServerPid = options.ServerPid,
        };
        using Generator generator = new(workload, settings);
        Measured measured = generator.Run();
        Console.WriteLine(options.Format == "json" ? JsonSerializer.Serialize(measured, Indented) : Text(measured));
        return measured.Errors + measured.Wrong == 0 ? 0 : 1;
    }

    /// <summary>Writes every key once.</summary>
    public static void Fill(IPEndPoint server, long keys, int valueBytes, bool check)
    {
        Workload workload = new("set", FillPipeline, valueBytes, new KeyStream(keys, KeyOrder.Sequence), check);
        GeneratorSettings settings = new() { Server = server, Connections = FillConnections, BatchesMax = (keys + FillPipeline - 1) / FillPipeline };
        using Generator generator = new(workload, settings);
        Measured filled = generator.Run();
        if (filled.Errors > 0) throw new InvalidDataException($"the server refused {filled.Errors} writes: {filled.FirstError}");
    }

    private static string Text(Measured m)
    {
        string text = string.Create(CultureInfo.InvariantCulture, $"""
            {m.OpsPerSecond,14:N0} ops/s   {m.Replies:N0} replies in {m.Seconds:F2} s
            {m.ServerNs,14:N0} server CPU ns/op
            {m.P50 / 1e3,14:N0} us p50   {m.P99 / 1e3:N0} p99   {m.P999 / 1e3:N0} p99.9   {m.Max / 1e3:N0} max
            {m.Fairness,14:F3} slowest connection / mean
            {m.GeneratorShare,14:P0} of a core used by the generator, {m.ForeignCores:F2} cores by other processes
            {m.Errors,14:N0} errors   {m.Nils:N0} nils   {m.Wrong:N0} wrong batches
            """);
        return m.FirstError is null ? text : text + "\n               first error: " + m.FirstError;
    }
}
