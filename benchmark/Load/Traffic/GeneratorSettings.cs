using System.Net;

namespace Garnet.Load.Traffic;

internal sealed record GeneratorSettings
{
    public required IPEndPoint Server { get; init; }
    public int Connections { get; init; } = 1;
    public double WarmupSeconds { get; init; }
    public double Seconds { get; init; } = 1;
    /// <summary>Open loop: operations per second to start whatever the server does; zero means closed loop.</summary>
    public double Rate { get; init; }
    /// <summary>Stop after this many batches instead of after a time; zero means no limit.</summary>
    public long BatchesMax { get; init; }
    public int ServerPid { get; init; }
    /// <summary>Open loop: how long to sleep while nothing is due, so that a gentle load leaves its core to others; zero spins.</summary>
    public int SleepMs { get; init; }
    /// <summary>A command that every connection begins with; empty for none.</summary>
    public string Opening { get; init; } = "";
}
