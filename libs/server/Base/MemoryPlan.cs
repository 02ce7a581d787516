using System.Globalization;
using Garnet.Common.Linux;

namespace Garnet.Server;

/// <summary>
/// How much memory there is to plan with: what the machine has or what the control group allows, the smaller of the two.
/// </summary>
public static class MemoryPlan
{
    private const int SharePercent = 75;

    private static readonly KernelFile Group2 = new("/sys/fs/cgroup/memory.max");
    private static readonly KernelFile Group1 = new("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Pages = new("/proc/self/statm");
    private static readonly long Machine = MachineBytes();

    /// <summary>The limit for <paramref name="configuredBytes"/> of <c>maxmemory</c>: itself, or a share of what there is.</summary>
    public static long LimitBytes(long configuredBytes) => configuredBytes > 0 ? configuredBytes : AvailableBytes() / 100 * SharePercent;

    /// <summary>Memory of the machine or the control group in bytes; a group's limit may change while we run, the machine's memory does not.</summary>
    public static long AvailableBytes() => Math.Min(Machine, Math.Min(GroupBytes(Group2), GroupBytes(Group1)));

    /// <summary>Memory of this process that lies in RAM, in bytes.</summary>
    public static long ResidentBytes() => Pages.TryNumber(1, out long pages) ? pages * Environment.SystemPageSize : Environment.WorkingSet;

    private static long MachineBytes()
    {
        if (!OperatingSystem.IsLinux())
            return GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
        foreach (string line in File.ReadLines("/proc/meminfo"))
        {
            if (!line.StartsWith("MemTotal:", StringComparison.Ordinal))
                continue;
            ReadOnlySpan<char> digits = line.AsSpan("MemTotal:".Length, line.Length - "MemTotal:kB".Length).Trim();
            return long.Parse(digits, NumberStyles.None, CultureInfo.InvariantCulture) << 10;
        }
        return GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
    }

    // No file, no number ("max") or a number past the machine means none.
    private static long GroupBytes(KernelFile limit) => limit.TryNumber(0, out long bytes) && bytes > 0 ? bytes : long.MaxValue;
}
