using System.Globalization;

namespace Garnet.Server;

/// <summary>
/// How much memory there is to plan with: what the machine has or what the control group allows, the smaller of the two.
/// </summary>
public static class MemoryPlan
{
    private const int SharePercent = 75;

    /// <summary>The limit for <paramref name="configuredBytes"/> of <c>maxmemory</c>: itself, or a share of what there is.</summary>
    public static long LimitBytes(long configuredBytes) => configuredBytes > 0 ? configuredBytes : AvailableBytes() / 100 * SharePercent;

    /// <summary>Memory of the machine or the control group in bytes.</summary>
    public static long AvailableBytes()
    {
        long machine = MachineBytes();
        long group = Math.Min(GroupBytes("/sys/fs/cgroup/memory.max"), GroupBytes("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
        return Math.Min(machine, group);
    }

    private static long MachineBytes()
    {
        if (!OperatingSystem.IsLinux()) return GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
        foreach (string line in File.ReadLines("/proc/meminfo"))
        {
            if (!line.StartsWith("MemTotal:", StringComparison.Ordinal)) continue;
            ReadOnlySpan<char> digits = line.AsSpan("MemTotal:".Length, line.Length - "MemTotal:kB".Length).Trim();
            return long.Parse(digits, NumberStyles.None, CultureInfo.InvariantCulture) << 10;
        }
        return GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
    }

    /// <summary>A control group's limit; no file, no number or a number past the machine means none.</summary>
    private static long GroupBytes(string path)
    {
        if (!File.Exists(path)) return long.MaxValue;
        ReadOnlySpan<char> text = File.ReadAllText(path).AsSpan().Trim();
        return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long bytes) && bytes > 0 ? bytes : long.MaxValue;
    }
}
