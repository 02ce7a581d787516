using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Admin;

/// <summary>CONFIG: the settings at run time.</summary>
internal static class ConfigCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(Spec("CONFIG", -2, "", "Looks at and changes settings.", "2.0.0"));
        table.Add<ConfigGet>();
        table.Add<ConfigSet>();
        table.Add<ConfigResetStat>();
        table.Add<ConfigRewrite>();
    }

    internal static CommandSpec Spec(string name, int arity, string syntax, string summary, string since) =>
        new(name, arity, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale)
        {
            Group = "server",
            Syntax = syntax,
            Summary = summary,
            Since = since,
        };
}

internal readonly struct ConfigGet : ICommand
{
    public static CommandSpec Spec => ConfigCommands.Spec("CONFIG|GET", -3, "parameter [parameter ...]", "Returns settings by name or pattern.", "2.0.0");

    public static Reply Run(ref Call call)
    {
        var patterns = new string[call.Count - 2];
        for (int i = 0; i < patterns.Length; i++)
            patterns[i] = call.Text(i + 2);
        List<KeyValuePair<string, string>> found = call.Server.Core.Table.Get(patterns);
        call.Out.Map(found.Count);
        foreach ((string name, string value) in found)
        {
            call.Out.Bulk(name);
            call.Out.Bulk(value);
        }

        return Reply.Sent;
    }
}

internal readonly struct ConfigSet : ICommand
{
    public static CommandSpec Spec => ConfigCommands.Spec("CONFIG|SET", -4, "parameter value [parameter value ...]", "Changes settings, all or none.", "2.0.0");

    public static Reply Run(ref Call call)
    {
        if (call.Count % 2 != 0)
            return call.Fail(Fault.Syntax);
        var pairs = new List<KeyValuePair<string, string>>();
        for (int i = 2; i < call.Count; i += 2)
            pairs.Add(new(call.Text(i), call.Text(i + 1)));
        AccessScope scope = call.Server.Settings.Security.ProtectedConfigs;
        bool allowed = scope == AccessScope.Yes || (scope == AccessScope.Local && call.Client.Peer.IsLoopback);
        return call.Server.Core.Table.TrySet(pairs, allowed, out string error) ? call.Ok() : call.FailText(error);
    }
}

internal readonly struct ConfigResetStat : ICommand
{
    public static CommandSpec Spec => ConfigCommands.Spec("CONFIG|RESETSTAT", 2, "", "Sets the statistics of INFO back to zero.", "2.0.0");

    public static Reply Run(ref Call call)
    {
        call.Server.Monitoring.Statistics.Reset();
        call.Server.Rights.Denials.ResetCounts();
        return call.Ok();
    }
}

internal readonly struct ConfigRewrite : ICommand
{
    public static CommandSpec Spec => ConfigCommands.Spec("CONFIG|REWRITE", 2, "", "Writes the settings in force to the configuration file.", "2.8.0");

    public static Reply Run(ref Call call)
    {
        if (call.Server.RewriteConfiguration is not { } rewrite)
            return call.FailBytes("ERR The server is running without a config file"u8);
        string? refusal = rewrite();
        return refusal is null ? call.Ok() : call.FailText("ERR Rewriting config file: " + refusal);
    }
}
