using System.Globalization;
using Garnet.Common.Linux;

namespace Garnet.Load.Machine;

/// <summary>The processor: its name, its cores, and who may run where.</summary>
internal static unsafe class Cores
{
    public static int Count { get; } = File.ReadLines("/proc/cpuinfo").Count(l => l.StartsWith("processor", StringComparison.Ordinal));

    public static string Model { get; } =
        File.ReadLines("/proc/cpuinfo").FirstOrDefault(l => l.StartsWith("model name", StringComparison.Ordinal))?.Split(": ")[^1] ?? "unknown";

    public static string Kernel { get; } = File.ReadAllText("/proc/sys/kernel/osrelease").Trim();

    public static double MemoryGiB { get; } =
        double.Parse(File.ReadLines("/proc/meminfo").First().Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) / (1 << 20);

    /// <summary>Binds the calling thread to one core.</summary>
    public static void PinThread(int core)
    {
        ulong* mask = stackalloc ulong[16];
        new Span<ulong>(mask, 16).Clear();
        mask[core / 64] = 1UL << (core % 64);
        if (Libc.sched_setaffinity(0, 16 * sizeof(ulong), mask) < 0) throw new InvalidOperationException($"cannot pin to core {core}");
    }
}
