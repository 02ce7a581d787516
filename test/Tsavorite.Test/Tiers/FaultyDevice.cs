namespace Tsavorite.Test.Tiers;

/// <summary>Lets a medium fail for a while in one way, then in another, by a seed.</summary>
internal sealed class FaultyDevice
{
    private const int Eio = 5, Enospc = 28;
    private static readonly string[] s_ways = ["well", "well", "well", "reads", "flips", "short", "elsewhere", "writes", "full", "slow", "all"];
    private static readonly int[] s_faults = [Eio, SimulatedMedium.Flipped, SimulatedMedium.Short, SimulatedMedium.Elsewhere];
    private readonly Random _random;
    private string _way = "well";

    public FaultyDevice(SimulatedMedium medium, Random random)
    {
        _random = random;
        medium.FailsRead = _ => FailsRead();
        medium.FailsWrite = _ => FailsWrite();
        medium.Delays = () => _way is "slow" or "all" && _random.Next(10) != 0;
    }

    public void Change() => _way = s_ways[_random.Next(s_ways.Length)];

    public void Mend() => _way = "well";

    private int FailsRead()
    {
        return _random.Next(3) != 0 ? 0 : _way switch
        {
            "reads" => Eio,
            "flips" => SimulatedMedium.Flipped,
            "short" => SimulatedMedium.Short,
            "elsewhere" => SimulatedMedium.Elsewhere,
            "all" => s_faults[_random.Next(s_faults.Length)],
            _ => 0,
        };
    }

    private int FailsWrite() => _way switch
    {
        "writes" or "all" => _random.Next(2) * Eio,
        "full" => Enospc,
        _ => 0,
    };
}
