using System.ComponentModel;
using System.Globalization;
using Garnet.Common.Linux;

namespace Garnet.Load.Machine;

/// <summary>Processor time as the kernel counts it.</summary>
internal static unsafe class ServerClock
{
    private const int ThreadClock = 3, SchedulerClock = 2;

    /// <summary>
    /// Nanoseconds on a core over all threads of the process, zero without a process. The process clock rather than the sum over
    /// /proc/PID/task/*/schedstat, which forgets threads that end: thread pools of peers gave negative costs.
    /// </summary>
    public static long ReadNs(int pid) => pid <= 0 ? 0 : ReadClock((~pid << 3) | SchedulerClock);

    public static long ReadOwnThreadNs() => ReadClock(ThreadClock);

    /// <summary>Seconds that all cores together were busy since boot.</summary>
    public static double ReadMachineSeconds()
    {
        using StreamReader stat = new("/proc/stat");
        string[] fields = stat.ReadLine()!.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        long ticks = 0;
        for (int i = 1; i < fields.Length && i <= 8; i++)
            if (i is not 4 and not 5) ticks += long.Parse(fields[i], CultureInfo.InvariantCulture);   // 4 and 5: idle and waiting for a device
        return ticks / 100.0;
    }

    /// <summary>Resident bytes of the process.</summary>
    public static long ReadRss(int pid)
    {
        foreach (string line in File.ReadLines($"/proc/{pid}/status"))
            if (line.StartsWith("VmRSS:", StringComparison.Ordinal))
                return long.Parse(line.AsSpan(6, line.Length - 8), NumberStyles.AllowLeadingWhite | NumberStyles.AllowTrailingWhite, CultureInfo.InvariantCulture) * 1024;
        return 0;
    }

    private static long ReadClock(int clock)
    {
        long* time = stackalloc long[2];
        if (Libc.clock_gettime(clock, time) < 0) throw new Win32Exception(Libc.Errno);
        return time[0] * 1_000_000_000 + time[1];
    }
}
