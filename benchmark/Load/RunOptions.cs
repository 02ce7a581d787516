using CommandLine;

namespace Garnet.Load;

[Verb("run", isDefault: true, HelpText = "Puts load on one server and reports what came back.")]
internal sealed class RunOptions
{
    [Option("host", Default = "127.0.0.1", HelpText = "IPv4 address of the server.")]
    public string Host { get; set; } = "";

    [Option('p', "port", Default = 6379)]
    public int Port { get; set; }

    [Option('c', "connections", Default = 16)]
    public int Connections { get; set; }

    [Option("pipeline", Default = 1, HelpText = "Requests per batch; one batch is in flight per connection.")]
    public int Pipeline { get; set; }

    [Option("op", Default = "get", HelpText = "ping, get, set, incr, del, exists, mgetN, msetN, mixN (N % GET), multiN (a transaction of N SETs), hset, hsetN (N fields in turn), sadd, zadd, lpush, lpushlpop, or a command with # for key digits and % for the value.")]
    public string Operation { get; set; } = "";

    [Option("keys", Default = 1000L)]
    public long Keys { get; set; }

    [Option("value-bytes", Default = 64)]
    public int ValueBytes { get; set; }

    [Option("distribution", Default = "uniform", HelpText = "uniform or zipf (0.99).")]
    public string Distribution { get; set; } = "";

    [Option("seconds", Default = 2.0)]
    public double Seconds { get; set; }

    [Option("warmup", Default = 0.5, HelpText = "Seconds of load before the measurement.")]
    public double Warmup { get; set; }

    [Option("rate", Default = 0.0, HelpText = "Open loop: operations per second; latency counts from the intended send time.")]
    public double Rate { get; set; }

    [Option("server-pid", Default = 0, HelpText = "Process whose processor time is measured.")]
    public int ServerPid { get; set; }

    [Option("fill", HelpText = "Write every key once before the measurement.")]
    public bool Fill { get; set; }

    [Option("verify", HelpText = "Compare every reply byte (ping, get, set, mget, mset, mix); values carry their key. Use with --fill.")]
    public bool Verify { get; set; }

    [Option("format", Default = "text", HelpText = "text or json.")]
    public string Format { get; set; } = "";

    [Option("core", Default = -1, HelpText = "Pin the generator to this core.")]
    public int Core { get; set; }
}
