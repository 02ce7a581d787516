using System.Runtime.InteropServices;
using Garnet.Server.Telemetry;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO server, cpu, modules and cluster: what process this is.</summary>
internal static class ServerText
{
    private static readonly string SystemName = RuntimeInformation.OSDescription.Replace('\n', ' ');

    internal static void Server(InfoText info)
    {
        info.Section("Server");
        info.Field("redis_version", info.Server.Settings.Inspect.RedisVersion);
        info.Field("redis_git_sha1", "00000000");
        info.Field("redis_git_dirty", "0");
        info.Field("redis_build_id", "0");
        info.Field("redis_mode", "standalone");
        info.Field("os", SystemName);
        info.Field("arch_bits", "64");
        info.Field("monotonic_clock", "system");
        bool usesSockets = info.Server.Settings.Network.Transport == TransportKind.Sockets || !OperatingSystem.IsLinux();
        info.Field("multiplexing_api", usesSockets ? "sockets" : "epoll");
        info.Field("atomicvar_api", "dotnet");
        info.Field("gcc_version", "0.0.0");
        info.Field(ServerFigures.Process);
        info.Field("process_supervised", "no");
        info.Field("run_id", info.Server.Replication.RunId);
        info.Field("tcp_port", info.Server.Core.Port > 0 ? info.Server.Core.Port : info.Server.Core.TlsPort); // as redis has it
        info.Field("server_time_usec", info.Server.Clock.UnixUs);
        info.Field(ServerFigures.Uptime);
        info.Field("uptime_in_days", info.Moment.UptimeSeconds / 86_400);
        info.Field("hz", 10);
        info.Field("configured_hz", 10);
        info.Field("lru_clock", info.Server.Clock.UnixMs / 1000 & 0xFFFFFF);
        info.Field("executable", Environment.ProcessPath ?? "");
        info.Field("config_file", info.Server.ConfigurationFile is { } file ? Path.GetFullPath(file) : "");
        info.Field("io_threads_active", info.Server.Workers.All.Length > 1 ? 1 : 0);
        info.Field("garnet_version", ServerTelemetry.Version);
        info.Field(ServerFigures.Reactors);
        info.Field(ServerFigures.OpenToNetwork);
        info.Field("garnet_tls_port", info.Server.Core.TlsPort);
        info.Field(ServerFigures.CertificateExpires);
    }

    internal static void Cpu(InfoText info)
    {
        info.Section("CPU");
        info.Seconds(ServerFigures.CpuSystem);
        info.Seconds(ServerFigures.CpuUser);
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
