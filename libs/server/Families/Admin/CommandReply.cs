using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Families.Admin;

/// <summary>A command's spec as COMMAND INFO and COMMAND DOCS spell it.</summary>
internal static class CommandReply
{
    private static readonly (CommandFlags Flag, string Name)[] FlagNames =
    [
        (CommandFlags.Write, "write"), (CommandFlags.ReadOnly, "readonly"), (CommandFlags.DenyOom, "denyoom"),
        (CommandFlags.Admin, "admin"), (CommandFlags.PubSub, "pubsub"), (CommandFlags.NoScript, "noscript"),
        (CommandFlags.Blocking, "blocking"), (CommandFlags.Loading, "loading"), (CommandFlags.Stale, "stale"),
        (CommandFlags.SkipMonitor, "skip_monitor"), (CommandFlags.SkipSlowlog, "skip_slowlog"), (CommandFlags.Asking, "asking"),
        (CommandFlags.Fast, "fast"), (CommandFlags.NoAuth, "no_auth"), (CommandFlags.MayReplicate, "may_replicate"),
        (CommandFlags.NoMulti, "no_multi"), (CommandFlags.MovableKeys, "movablekeys"), (CommandFlags.AllowBusy, "allow_busy"),
        (CommandFlags.NoMandatoryKeys, "no_mandatory_keys"),
    ];

    /// <summary>Writes one element of COMMAND INFO.</summary>
    internal static void WriteInfo(RespWriter to, CommandTable table, int id)
    {
        CommandSpec spec = table.Specs[id];
        bool fixedKeys = spec.Keys.CountArg == 0;
        to.Array(10);
        to.Bulk(spec.Name.ToLowerInvariant());
        to.Int(spec.Arity);
        WriteNames(to, [.. FlagNames.Where(pair => (spec.Flags & pair.Flag) != 0).Select(pair => pair.Name)]);
        to.Int(fixedKeys ? spec.Keys.First : spec.Keys.Target);
        to.Int(fixedKeys ? spec.Keys.Last : spec.Keys.Target);
        to.Int(fixedKeys ? spec.Keys.Step : spec.Keys.Target);
        WriteNames(to, Categories(spec));
        string[] tips = spec.Tips.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        to.Array(tips.Length);
        foreach (string tip in tips)
            to.Bulk(tip);
        WriteKeySpecs(to, spec.Keys);
        int[] children = [.. table.Children(id)];
        to.Array(children.Length);
        foreach (int child in children)
            WriteInfo(to, table, child);
    }

    /// <summary>Writes one pair of COMMAND DOCS: the name and the map about it.</summary>
    internal static void WriteDocs(RespWriter to, CommandTable table, int id)
    {
        CommandSpec spec = table.Specs[id];
        int[] children = [.. table.Children(id)];
        List<SyntaxArgument> arguments = SyntaxArgument.Parse(spec.Syntax);
        to.Bulk(spec.Name.ToLowerInvariant());
        to.Map(4 + (arguments.Count > 0 ? 1 : 0) + (children.Length > 0 ? 1 : 0));
        WritePair(to, "summary", spec.Summary);
        WritePair(to, "since", spec.Since);
        WritePair(to, "group", spec.Group);
        WritePair(to, "complexity", spec.Complexity);
        if (arguments.Count > 0)
        {
            to.Bulk("arguments"u8);
            SyntaxArgument.Write(to, arguments);
        }

        if (children.Length == 0)
            return;
        to.Bulk("subcommands"u8);
        to.Map(children.Length);
        foreach (int child in children)
            WriteDocs(to, table, child);
    }

    /// <summary>Writes the usage flags of a key.</summary>
    internal static void WriteUsage(RespWriter to, string usage)
    {
        // The kind of access stands in capitals, what is done with the value in small letters.
        WriteNames(to,
            [.. usage.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(word => word.Length == 2 ? word : word.ToLowerInvariant())]);
    }

    /// <summary>ACL categories, with the @.</summary>
    internal static string[] Categories(CommandSpec spec) =>
        [.. CategoryNames.Of(SpecCategories.Of(spec)).Select(static name => "@" + name)];

    private static void WriteKeySpecs(RespWriter to, KeySpec keys)
    {
        if (keys.StreamsFrom > 0)
        {
            to.Array(1);
            WriteStreamsSpec(to, keys);
            return;
        }

        if (keys.First == 0)
        {
            to.Array(0);
            return;
        }

        bool apart = keys.RestUsage.Length > 0;
        to.Array(1 + (keys.Target > 0 || apart ? 1 : 0) + (keys.StoreFrom > 0 ? 1 : 0) + (keys.StoresDistances ? 1 : 0) +
            (keys.KeysFrom > 0 ? 1 : 0));
        if (keys.Target > 0)
            WriteKeySpec(to, new KeySpec(keys.Target, keys.Target, 1) { Usage = KeySpec.TargetUsage });
        WriteKeySpec(to, apart ? keys with { Last = keys.First } : keys);
        if (apart)
            WriteKeySpec(to, keys with { First = keys.First + keys.Step, Usage = keys.RestUsage });
        if (keys.StoreFrom > 0)
            WriteStoreSpec(to, "STORE", keys.StoreFrom);
        if (keys.StoresDistances)
            WriteStoreSpec(to, "STOREDIST", keys.StoreFrom);
        if (keys.KeysFrom > 0)
            WriteBehindKeysSpec(to, keys);
    }

    private static void WriteStoreSpec(RespWriter to, string word, int from)
    {
        WriteKeyword(to, KeySpec.TargetUsage, word, from);
        WriteSearch(to, "range", [("lastkey", 0), ("keystep", 1), ("limit", 0)]);
    }

    // The word is looked for from the end, where an option may have it as its value: so these keys may be others.
    private static void WriteBehindKeysSpec(RespWriter to, KeySpec keys)
    {
        WriteKeyword(to, keys.Usage + " INCOMPLETE", "KEYS", -2);
        WriteSearch(to, "range", [("lastkey", -1), ("keystep", 1), ("limit", 0)]);
    }

    private static void WriteStreamsSpec(RespWriter to, KeySpec keys)
    {
        WriteKeyword(to, keys.Usage, "STREAMS", keys.StreamsFrom);
        WriteSearch(to, "range", [("lastkey", -1), ("keystep", 1), ("limit", 2)]);
    }

    // A key spec by a word, up to how the keys are found behind it.
    private static void WriteKeyword(RespWriter to, string usage, string word, int from)
    {
        to.Map(3);
        to.Bulk("flags"u8);
        WriteUsage(to, usage);
        to.Bulk("begin_search"u8);
        to.Map(2);
        WritePair(to, "type", "keyword");
        to.Bulk("spec"u8);
        to.Map(2);
        WritePair(to, "keyword", word);
        to.Bulk("startfrom"u8);
        to.Int(from);
        to.Bulk("find_keys"u8);
    }

    private static void WriteKeySpec(RespWriter to, KeySpec keys)
    {
        to.Map(3);
        to.Bulk("flags"u8);
        WriteUsage(to, keys.UsageOf is not null ? keys.Usage + " VARIABLE_FLAGS" : keys.Usage);
        bool counted = keys.CountArg > 0;
        to.Bulk("begin_search"u8);
        WriteSearch(to, "index", [("index", counted ? keys.CountArg : keys.First)]);
        to.Bulk("find_keys"u8);
        if (counted)
            WriteSearch(to, "keynum", [("keynumidx", 0), ("firstkey", keys.First - keys.CountArg), ("keystep", keys.Step)]);
        else
            WriteSearch(to, "range",
                [("lastkey", keys.Last < 0 ? keys.Last : keys.Last - keys.First), ("keystep", keys.Step), ("limit", 0)]);
    }

    private static void WriteSearch(RespWriter to, string type, (string Name, int Value)[] values)
    {
        to.Map(2);
        WritePair(to, "type", type);
        to.Bulk("spec"u8);
        to.Map(values.Length);
        foreach ((string name, int value) in values)
        {
            to.Bulk(name);
            to.Int(value);
        }
    }

    private static void WriteNames(RespWriter to, string[] names)
    {
        to.Set(names.Length);
        foreach (string name in names)
            to.Simple(Encoding.ASCII.GetBytes(name));
    }

    private static void WritePair(RespWriter to, string name, string value)
    {
        to.Bulk(name);
        to.Bulk(value);
    }
}
