using System.Globalization;
using System.Runtime.InteropServices;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO server, cpu, modules and cluster: what process this is.</summary>
internal static class ServerText
{
    internal static void Server(InfoText info)
    {
        long uptime = Math.Max(info.Server.Clock.UnixMs - info.Server.StartedUnixMs, 0) / 1000;
        info.Section("Server");
        info.Field("redis_version", info.Server.Settings.Inspect.RedisVersion);
        info.Field("redis_git_sha1", "00000000");
        info.Field("redis_git_dirty", "0");
        info.Field("redis_build_id", "0");
        info.Field("redis_mode", "standalone");
        info.Field("os", RuntimeInformation.OSDescription.Replace('\n', ' '));
        info.Field("arch_bits", "64");
        info.Field("monotonic_clock", "system");
        bool usesSockets = info.Server.Settings.Network.Transport == TransportKind.Sockets || !OperatingSystem.IsLinux();
        info.Field("multiplexing_api", usesSockets ? "sockets" : "epoll");
        info.Field("atomicvar_api", "dotnet");
        info.Field("gcc_version", "0.0.0");
        info.Field("process_id", Environment.ProcessId);
        info.Field("process_supervised", "no");
        info.Field("run_id", info.Server.Replication.RunId);
        info.Field("tcp_port", info.Server.Port > 0 ? info.Server.Port : info.Server.TlsPort); // as redis has it
        info.Field("server_time_usec", info.Server.Clock.UnixUs);
        info.Field("uptime_in_seconds", uptime);
        info.Field("uptime_in_days", uptime / 86_400);
        info.Field("hz", 10);
        info.Field("configured_hz", 10);
        info.Field("lru_clock", info.Server.Clock.UnixMs / 1000 & 0xFFFFFF);
        info.Field("executable", Environment.ProcessPath ?? "");
        info.Field("config_file", info.Server.ConfigurationFile is { } file ? Path.GetFullPath(file) : "");
        info.Field("io_threads_active", info.Server.Workers.Count > 1 ? 1 : 0);
        info.Field("garnet_version", InfoText.Version);
        info.Field("garnet_reactors", info.Server.Workers.Count);
        info.Field("garnet_open_to_network", info.Server.ClientLimits.IsOpenToNetwork ? 1 : 0);
        info.Field("garnet_tls_port", info.Server.TlsPort);
        info.Field("garnet_tls_certificate_expires", info.Server.Tls.ExpiresUnixSeconds);
    }

    internal static void Cpu(InfoText info)
    {
        Environment.ProcessCpuUsage usage = OperatingSystem.IsIOS() || OperatingSystem.IsTvOS() ? default : Environment.CpuUsage;
        info.Section("CPU");
        info.Field("used_cpu_sys", usage.PrivilegedTime.TotalSeconds.ToString("F6", CultureInfo.InvariantCulture));
        info.Field("used_cpu_user", usage.UserTime.TotalSeconds.ToString("F6", CultureInfo.InvariantCulture));
        info.Field("used_cpu_sys_children", "0.000000");
        info.Field("used_cpu_user_children", "0.000000");
    }

    internal static void Modules(InfoText info) => info.Section("Modules");

    internal static void Cluster(InfoText info)
    {
        info.Section("Cluster");
        info.Field("cluster_enabled", 0);
    }
}
