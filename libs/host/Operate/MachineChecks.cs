using System.Globalization;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>
/// What <c>garnet-server doctor</c> looks at where the server runs: the kernel, its limits and the file systems, against what the
/// settings ask for. Each check is a line of the table, and finds nothing or one thing.
/// </summary>
internal static class MachineChecks
{
    private const int CalmSwappiness = 10;

    /// <summary>The checks by what they look at.</summary>
    public static IReadOnlyList<(string Name, Func<Machine, ServerSettings, Finding?> Look)> All { get; } =
    [
        ("memory limit", MemoryLimit), ("huge pages", HugePages), ("memory overcommit", Overcommit), ("swap", Swap),
        ("open files", OpenFiles), ("connection backlog", Backlog), ("clock source", Clock), ("io_uring", IoUring),
        ("data directory", DataDirectory), ("tier's directory", TierDirectory), ("tier's directory in persistent memory", PmTierDirectory),
        ("directory for backups", BackupDirectory),
    ];

    /// <summary>The limit of memory is beyond what there is: what a start tells too.</summary>
    public static Finding? MemoryLimit(Machine machine, ServerSettings settings)
    {
        long limit = settings.Memory.MaxMemoryBytes;
        return limit <= machine.MemoryBytes || machine.MemoryBytes == 0 ? null
            : new(true, $"maxmemory is {SettingText.PrintMemory(limit)}, and there are {SettingText.PrintMemory(machine.MemoryBytes)}",
                "the kernel ends the server when memory is out (out-of-memory killer), before any key is evicted",
                $"--maxmemory {machine.MemoryBytes / 100 * MemoryPlan.SharePercent(settings.HasTier)}, or give the container more");
    }

    private static Finding? HugePages(Machine machine, ServerSettings settings) =>
        !machine.Text("/sys/kernel/mm/transparent_hugepage/enabled").Contains("[never]", StringComparison.Ordinal) ? null
            : new(false, "huge pages are switched off",
                "the store asks for them where they fit; without them look-ups in much memory take longer",
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");

    private static Finding? Overcommit(Machine machine, ServerSettings settings) =>
        machine.Number("/proc/sys/vm/overcommit_memory") != 2 ? null
            : new(false, "the kernel does not overcommit memory (vm.overcommit_memory = 2)",
                "the store reserves addresses for all it may grow to, and the kernel counts them as used", "sysctl vm.overcommit_memory=0");

    private static Finding? Swap(Machine machine, ServerSettings settings) =>
        !machine.Swaps || machine.Number("/proc/sys/vm/swappiness") is not > CalmSwappiness ? null
            : new(false, $"there is swap space, and vm.swappiness is {machine.Text("/proc/sys/vm/swappiness")}",
                "keys that were not asked for lately may be swapped out, and reading one then waits for the disk",
                "sysctl vm.swappiness=1, or swapoff -a");

    private static Finding? OpenFiles(Machine machine, ServerSettings settings)
    {
        long wanted = settings.Network.ClientsMax + NetworkSettings.FilesBesideClients;
        return machine.OpenFiles is not { } files || files >= wanted ? null
            : new(false, $"{files} files may be open, and maxclients is {settings.Network.ClientsMax}",
                "each client is an open file: clients beyond the limit are refused",
                $"ulimit -Hn {wanted} before the start, or LimitNOFILE={wanted} in the unit");
    }

    private static Finding? Backlog(Machine machine, ServerSettings settings)
    {
        int wanted = settings.Network.TcpBacklog;
        return machine.Number("/proc/sys/net/core/somaxconn") is not { } granted || granted >= wanted ? null
            : new(false, $"tcp-backlog is {wanted}, and the kernel grants {granted}",
                "when many clients connect at once some wait a second and more", $"sysctl net.core.somaxconn={wanted}");
    }

    private static Finding? Clock(Machine machine, ServerSettings settings)
    {
        const string Current = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        return machine.Text(Current) is ("hpet" or "acpi_pm" or "refined-jiffies" or "xen") and var source
            ? new(false, $"the clock source is {source}",
                "each look at the clock is a call of the kernel: some hundred nanoseconds a command",
                $"echo tsc > {Current}, where available_clocksource beside it has tsc")
            : null;
    }

    private static Finding? IoUring(Machine machine, ServerSettings settings) =>
        settings.Tier.Path.Length == 0 || machine.Number("/proc/sys/kernel/io_uring_disabled") is not > 0 ? null
            : new(false, "io_uring is switched off (kernel.io_uring_disabled)",
                "the tier is read by a few threads instead, and fewer reads are under way at once",
                "sysctl kernel.io_uring_disabled=0");

    private static Finding? DataDirectory(Machine machine, ServerSettings settings) =>
        (settings.Persistence.AppendOnly || settings.Persistence.Directory != Environment.CurrentDirectory) // else nothing is written there
            && IsMemory(machine, settings.Persistence.Directory)
            ? new(true, $"the data directory {settings.Persistence.Directory} lies in memory", "all of it is gone when the machine ends",
                "--dir DIRECTORY on a disk")
            : null;

    private static Finding? TierDirectory(Machine machine, ServerSettings settings)
    {
        if (settings.Tier.Path.Length > 0 && IsMemory(machine, settings.Tier.Path))
        {
            return new(true, $"the tier {Path.GetFullPath(settings.Tier.Path)} lies in memory",
                "it takes the memory that it is there to save", "--tier-path DIRECTORY on a disk");
        }
        return Unusable("for the tier", settings.Tier.Path, "the server does not start");
    }

    private static Finding? PmTierDirectory(Machine machine, ServerSettings settings) =>
        Unusable("for the tier in persistent memory", settings.Tier.PmPath, "the server does not start");

    private static Finding? BackupDirectory(Machine machine, ServerSettings settings) =>
        Unusable("for backups", settings.Backups.Path, "no backup is taken");

    // One that is named has to be there, and to be the server's to write.
    private static Finding? Unusable(string what, string named, string until)
    {
        if (named.Length == 0)
            return null;
        string path = Path.GetFullPath(named);
        if (!Directory.Exists(path))
        {
            return new(true, $"there is no directory {what}: {path}", $"{until} until it is there",
                $"mount the disk that it is on, or make it: mkdir -m 700 {path}");
        }
        return !OperatingSystem.IsLinux() || Libc.MayWrite(path) ? null
            : new(true, $"no file can be made in the directory {what}: {path}", $"{until}, if this is the server's user",
                "make it writable for the server's user, or run this as that user");
    }

    private static bool IsMemory(Machine machine, string path) => machine.FileSystemOf(Path.GetFullPath(path)) is "tmpfs" or "ramfs";
}
