using System.Globalization;
using System.Net;
using System.Text;
using Garnet.Common;

namespace Garnet.Host.Operate;

/// <summary>A server at one glance: the screen of <c>garnet-server status</c>, as lines for people and as JSON.</summary>
internal sealed class StatusScreen(EndPoint target, InfoReply info, double pingMs, IReadOnlyList<Finding> findings)
{
    private const int Slowest = 3, NameWidth = 14;
    private const long SpanSecondsMax = 100L * 365 * 86_400; // no server is older; what one says may be anything

    /// <summary>Nothing is in trouble; advice does not count.</summary>
    public bool IsHealthy => !findings.Any(static one => one.IsTrouble);

    /// <summary>The lines for people.</summary>
    public IEnumerable<string> Lines()
    {
        yield return $"{target}  Garnet {info.Text("garnet_version")}  {(IsHealthy ? "healthy" : "IN TROUBLE")}";
        foreach ((string name, string text) in Rows())
            yield return $"  {name.PadRight(NameWidth)}{text}";
        foreach (Finding one in findings)
        {
            yield return $"{(one.IsTrouble ? "TROUBLE" : "Advice")}: {one.What}: {one.Why}";
            yield return $"  {one.Next}";
        }
    }

    /// <summary>The same for programs: all of INFO as it stands there, as texts, and what is found as a list.</summary>
    public string Json() => AnswerJson.Of(json =>
    {
        json.WriteString("address", target.ToString());
        json.WriteBoolean("healthy", IsHealthy);
        json.WriteNumber("ping_ms", Math.Round(pingMs, 3));
        json.WriteStartObject("info");
        foreach (string name in info.Names)
            json.WriteString(name, info.Text(name));
        json.WriteEndObject();
        AnswerJson.Write(json, findings);
    });

    /// <summary>For programs: there is no answer, and why.</summary>
    public static string NoAnswer(ServerAnswer answer) => AnswerJson.Of(json =>
    {
        json.WriteString("address", answer.Target.ToString());
        json.WriteBoolean("healthy", false);
        json.WriteString("refusal", answer.Refusal);
    });

    private IEnumerable<(string Name, string Text)> Rows()
    {
        yield return ("up", $"{Span(info.Number("uptime_in_seconds"))}, "
            + $"process {info.Text("process_id")}, answers in {Decimal(pingMs)} ms");
        yield return ("role", Role());
        yield return ("memory", Memory());
        yield return ("keys", Keys());
        yield return ("persistence", Persistence());
        if (info.Text("tier_path").Length + info.Text("tier_pm_path").Length > 0)
            yield return ("tiers", Tiers());
        string blocked = info.Number("blocked_clients") is > 0 and var n ? $", {Count(n)} blocked" : "";
        yield return ("clients", $"{Count(info.Number("connected_clients"))} of {Count(info.Number("maxclients"))}{blocked}");
        yield return ("load", $"{Count(info.Number("instantaneous_ops_per_sec"))} commands/s, "
            + $"in {Kib("instantaneous_input_kbps")} KiB/s, out {Kib("instantaneous_output_kbps")} KiB/s");
        yield return ("slowest (p99)", Latencies());
    }

    private string Role()
    {
        if (info.Text("role") == "slave")
        {
            string link = info.Number("master_sync_in_progress") == 1 ? "getting its first copy"
                : info.Text("master_link_status") != "up" ? "link down" : $"{Count(info.Number("garnet_repl_lag_ms"))} ms behind";
            return $"replica of {info.Text("master_host")}:{info.Text("master_port")}, {link}";
        }
        string[] replicas = [.. info.Numbered("garnet_slave")];
        if (replicas.Length == 0)
            return "primary without replicas";
        double behind = replicas.Max(one => info.PartNumber(one, "lag_batches"));
        return $"primary of {replicas.Length}, the slowest {Count((long)behind)} batches behind";
    }

    private string Memory()
    {
        long used = info.Number("used_memory"), limit = info.Number("maxmemory");
        string of = limit > 0 ? $" of {SettingText.PrintMemory(limit)} ({Decimal(used * 100.0 / limit)} %)" : "";
        return $"{SettingText.PrintMemory(used)}{of}, resident {SettingText.PrintMemory(info.Number("used_memory_rss"))}, "
            + $"{info.Text("maxmemory_policy")}, {Count(info.Number("evicted_keys"))} evicted";
    }

    private string Keys()
    {
        string[] databases = [.. info.Numbered("db")];
        double keys = databases.Sum(one => info.PartNumber(one, "keys")), expire = databases.Sum(one => info.PartNumber(one, "expires"));
        long hits = info.Number("keyspace_hits"), asked = hits + info.Number("keyspace_misses");
        string found = asked > 0 ? $", hit rate {Decimal(hits * 100.0 / asked)} %" : "";
        return $"{Count((long)keys)}, of which {Count((long)expire)} expire{found}";
    }

    private string Persistence()
    {
        if (info.Text("garnet_data_directory").Length == 0)
            return "none";
        long age = (info.Number("server_time_usec") / 1_000_000) - info.Number("rdb_last_save_time");
        string snapshot = info.Number("rdb_saves") > 0 ? $"last snapshot {Span(age)} ago" : "no snapshot since the start";
        string log = info.Number("aof_enabled") == 0 ? "no append-only file"
            : $"append-only file of {SettingText.PrintMemory(info.Number("aof_current_size"))} on the disk";
        string outlives = info.Text("aof_durability") switch
        {
            "none" => "", "os" => ", what is acknowledged outlives the process", "disk" => ", what is acknowledged outlives a power cut",
            var other => $", what is acknowledged is kept: {other}",
        };
        return $"{log}{outlives}; {snapshot}";
    }

    private string Tiers() =>
        $"{Count(info.Number("tier_cold_records"))} cold records, "
            + $"{SettingText.PrintMemory(info.Number("tier_live_bytes"))} "
            + $"of {SettingText.PrintMemory(info.Number("tier_size_bytes"))}";

    private string Latencies()
    {
        const string Prefix = "latency_percentiles_usec_";
        (string Command, double Us)[] slowest = [.. info.Names
            .Where(static name => name.StartsWith(Prefix, StringComparison.Ordinal) && name != Prefix + "info") // ours, just now
            .Select(name => (name[Prefix.Length..], info.PartNumber(name, "p99")))
            .OrderByDescending(static one => one.Item2).Take(Slowest)];
        return slowest.Length == 0 ? "nothing timed yet"
            : string.Join(", ", slowest.Select(static one => $"{one.Command} {Decimal(one.Us / 1000)} ms"));
    }

    private string Kib(string name) =>
        double.TryParse(info.Text(name), NumberStyles.Float, CultureInfo.InvariantCulture, out double kib) ? Decimal(kib) : "0";

    private static string Count(long n) => n.ToString("N0", CultureInfo.InvariantCulture);

    private static string Decimal(double n) => n.ToString(n < 10 ? "0.##" : "N0", CultureInfo.InvariantCulture);

    private static string Span(long seconds) => TimeSpan.FromSeconds(Math.Clamp(seconds, 0, SpanSecondsMax)) switch
    {
        { TotalMinutes: < 1 } t => $"{t.Seconds} s",
        { TotalHours: < 1 } t => $"{t.Minutes} min",
        { TotalDays: < 1 } t => $"{t.Hours} h {t.Minutes} min",
        var t => $"{t.Days} days {t.Hours} h",
    };
}
