using System.Diagnostics;
using Garnet.Common.Test;

namespace Garnet.Aof.Test.Simulation;

/// <summary>
/// The simulation over a store with a fault planted, which is chosen before the store's first use and so needs a process of its
/// own: the test assembly's entry point, told the fault and how many seeds to try. Ends with 1 when a seed finds it.
/// </summary>
internal static class StoreFaultProcess
{
    /// <summary>As the store's test hooks call it; the names are those of its planted faults.</summary>
    private const string PlantedName = "Tsavorite.Planted";
    private const int NotFound = 0, Found = 1;

    public static int Main(string[] args)
    {
        if (args.Length != 2) return 2;
        AppContext.SetData(PlantedName, args[0]);
        for (int seed = 1; seed <= int.Parse(args[1], System.Globalization.CultureInfo.InvariantCulture); seed++)
        {
            try
            {
                new Simulation(seed, DiskFault.None, new SimulationFigures()).Run();
            }
            catch (InvalidOperationException e)
            {
                Console.WriteLine($"seed {seed}: {e.Message}");
                return Found;
            }
        }
        return NotFound;
    }

    /// <summary>Whether a seed finds the fault, by its own checks or by an invariant of the store, and what was said.</summary>
    public static bool Finds(string fault, int seeds, out string said)
    {
        var start = new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet")
        {
            ArgumentList = { typeof(StoreFaultProcess).Assembly.Location, fault, $"{seeds}" }, RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        said = process.StandardOutput.ReadToEnd() + errors.InTime();
        process.WaitForExit();
        return process.ExitCode == Found || said.Contains("broken invariant: ", StringComparison.Ordinal);
    }
}
