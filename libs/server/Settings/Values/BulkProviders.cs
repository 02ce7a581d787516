using Garnet.Common;

namespace Garnet.Server;

/// <summary>What may carry values beside connections: names of providers, with spaces or commas between them.</summary>
public sealed class BulkProviders : ISettingValue
{
    private const int ShownCharsMax = 64; // of a name in an error, which may come from a client

    private readonly string[] _names;

    internal BulkProviders(params string[] names) => _names = names;

    /// <summary>Those that go over a network, to an address of the client's.</summary>
    internal static string[] Fabrics { get; } = ["net", "verbs"];

    /// <summary>All that the setting takes.</summary>
    internal static string[] All { get; } = ["local", .. Fabrics];

    public string Text => string.Join(' ', _names);

    public bool LinesAdd => false;

    public bool Contains(string name) => _names.Contains(name);

    public ISettingValue? Parse(string text, out string error)
    {
        string[] names = text.Split([' ', ','], StringSplitOptions.RemoveEmptyEntries);
        string? unknown = names.FirstOrDefault(static name => !All.Contains(name));
        error = unknown is null ? "" : $"'{Shown(unknown)}' is no provider; there are {string.Join(", ", All)}";
        return unknown is null ? new BulkProviders(names) : null;
    }

    private static string Shown(string name) => name.Length <= ShownCharsMax ? name : name[..ShownCharsMax] + "...";
}
