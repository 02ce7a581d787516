namespace Garnet.Common;

/// <summary>
/// Declares a property to be a setting: the one place that names it. Command line, environment, configuration file,
/// CONFIG GET and SET and the reference page all read this.
/// </summary>
[AttributeUsage(AttributeTargets.Property)]
public sealed class SettingAttribute(string name, string help) : Attribute
{
    /// <summary>Name as in redis.conf where redis has the setting.</summary>
    public string Name { get; } = name;
    /// <summary>One line for operators.</summary>
    public string Help { get; } = help;
    /// <summary>Other names of the same setting, separated by blanks.</summary>
    public string Aliases { get; init; } = "";
    public SettingUnit Unit { get; init; }
    public long Min { get; init; } = long.MinValue;
    public long Max { get; init; } = long.MaxValue;
    /// <summary>The spellings allowed, separated by blanks; an enum member is the spelling without dashes.</summary>
    public string Values { get; init; } = "";
    /// <summary>May be changed by CONFIG SET while the server runs.</summary>
    public bool Live { get; init; }
    /// <summary>CONFIG SET needs <c>enable-protected-configs</c>.</summary>
    public bool Protected { get; init; }
    /// <summary>Not listed by CONFIG GET patterns; an exact name still finds it.</summary>
    public bool Hidden { get; init; }
    /// <summary>Never printed: CONFIG GET, logs and error messages show a placeholder.</summary>
    public bool Secret { get; init; }
    /// <summary>Accepted, stored and without effect, for the reason given here.</summary>
    public string Note { get; init; } = "";
    /// <summary>The only text accepted; anything else is refused with <see cref="Why"/>.</summary>
    public string? Only { get; init; }
    /// <summary>Why nothing but <see cref="Only"/> is accepted, and what to do instead.</summary>
    public string Why { get; init; } = "";
}
