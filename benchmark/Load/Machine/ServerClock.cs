using System.Globalization;

namespace Garnet.Load.Machine;

/// <summary>Processor time from the scheduler statistics of the kernel.</summary>
internal static class ServerClock
{
    /// <summary>Nanoseconds on a core, over all live threads of the process; zero without a process.</summary>
    public static long ReadNs(int pid)
    {
        if (pid <= 0) return 0;
        long total = 0;
        foreach (string task in Directory.EnumerateDirectories($"/proc/{pid}/task")) total += ReadFirstField(task + "/schedstat");
        return total;
    }

    public static long ReadOwnThreadNs() => ReadFirstField("/proc/thread-self/schedstat");

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

    private static long ReadFirstField(string path)
    {
        try
        {
            string text = File.ReadAllText(path);
            return long.Parse(text.AsSpan(0, text.IndexOf(' ', StringComparison.Ordinal)), CultureInfo.InvariantCulture);
        }
        catch (IOException)
        {
            return 0;   // a thread that ended between the listing and the read
        }
    }
}
