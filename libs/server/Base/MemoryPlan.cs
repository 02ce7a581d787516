using System.Globalization;
using Garnet.Common.Linux;

namespace Garnet.Server;

/// <summary>
/// How much memory there is to plan with: what the machine has or what the process's control group, and each around it, allows, the smallest of all.
/// </summary>
public static class MemoryPlan
{
    private const int Share = 75, ShareWithTier = 60; // percent

    private static readonly KernelFile[] Groups = GroupLimits();
    private static readonly KernelFile Pages = new("/proc/self/statm");
    private static readonly long Machine = MachineBytes();

    /// <summary>The limit for <paramref name="configuredBytes"/> of <c>maxmemory</c>: itself, or a share of what there is.</summary>
    public static long LimitBytes(long configuredBytes, bool hasTier) =>
        configuredBytes > 0 ? configuredBytes : AvailableBytes() / 100 * SharePercent(hasTier);

    /// <summary>That share, percent: with a tier, what is read from it lies beside the limit for a moment.</summary>
    public static int SharePercent(bool hasTier) => hasTier ? ShareWithTier : Share;

    /// <summary>Memory of the machine or the control group in bytes; a group's limit may change while we run, the machine's memory does not.</summary>
    public static long AvailableBytes()
    {
        long bytes = Machine;
        foreach (KernelFile limit in Groups)
            bytes = Math.Min(bytes, GroupBytes(limit));
        return bytes;
    }

    /// <summary>
    /// The files with the limits of a process's control groups, from its own up to the outermost, by what /proc/self/cgroup says (cgroups(7)): a line for version 2, "0::/path", or one
    /// with the controller "memory" for version 1.
    /// </summary>
    public static List<string> GroupFiles(IEnumerable<string> lines)
    {
        ArgumentNullException.ThrowIfNull(lines);
        List<string> files = [];
        foreach (string line in lines)
        {
            string[] parts = line.Split(':', 3);
            if (parts.Length < 3)
                continue;
            bool isFirst = Array.IndexOf(parts[1].Split(','), "memory") >= 0;
            if (!isFirst && parts[1].Length > 0)
                continue;
            (string root, string file) = isFirst ? ("/sys/fs/cgroup/memory", "memory.limit_in_bytes") : ("/sys/fs/cgroup", "memory.max");
            for (string path = parts[2].TrimEnd('/'); path.Length > 0; path = path[..path.LastIndexOf('/')])
                files.Add($"{root}{path}/{file}");
            files.Add($"{root}/{file}");
        }
        return files;
    }

    /// <summary>Memory of this process that lies in RAM, in bytes.</summary>
    public static long ResidentBytes() => Pages.TryNumber(1, out long pages) ? pages * Environment.SystemPageSize : Environment.WorkingSet;

    // A process that sees its groups from the inside (in a container) is shown "/" or a path that is not there: the outermost is its own then.
    private static KernelFile[] GroupLimits()
    {
        List<string> files = GroupFiles(KernelFile.TextOf("/proc/self/cgroup").Split('\n')); // by hand: a start loads no queries
        List<KernelFile> limits = [];
        foreach (string path in files)
        {
            if (File.Exists(path))
                limits.Add(new KernelFile(path));
        }
        return [.. limits];
    }

    private static long MachineBytes()
    {
        foreach (string line in KernelFile.TextOf("/proc/meminfo").Split('\n'))
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
