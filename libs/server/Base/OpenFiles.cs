using Garnet.Common.Linux;

namespace Garnet.Server.Base;

/// <summary>How many files the process may have open; each client is one.</summary>
internal static unsafe class OpenFiles
{
    /// <summary>
    /// Raises the soft limit as far as the clients need and the hard limit allows; returns how many clients then fit.
    /// </summary>
    internal static long ClientsFor(long clients)
    {
        if (!OperatingSystem.IsLinux())
            return clients;
        ulong* limits = stackalloc ulong[2]; // soft, hard
        if (Libc.getrlimit(Libc.RLIMIT_NOFILE, limits) != 0)
            return clients;
        ulong wanted = (ulong)clients + NetworkSettings.FilesBesideClients;
        if (limits[0] < wanted && limits[0] < limits[1])
        {
            ulong before = limits[0];
            limits[0] = Math.Min(wanted, limits[1]);
            if (Libc.setrlimit(Libc.RLIMIT_NOFILE, limits) != 0)
                limits[0] = before;
        }

        return limits[0] >= wanted ? clients : Math.Max((long)limits[0] - NetworkSettings.FilesBesideClients, 1);
    }
}
