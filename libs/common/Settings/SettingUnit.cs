namespace Garnet.Common;

/// <summary>What a number in a setting counts.</summary>
public enum SettingUnit
{
    /// <summary>Not a number.</summary>
    None,
    /// <summary>Plain things: keys, entries, threads.</summary>
    Count,
    /// <summary>Hundredths of something else.</summary>
    Percent,
    /// <summary>Bytes; accepts <c>100mb</c>, <c>1gb</c> (1024 based) and <c>1k</c>, <c>1g</c> (1000 based).</summary>
    Bytes,
    /// <summary>Seconds; accepts <c>5m</c>, <c>1h</c>.</summary>
    Seconds,
    /// <summary>Milliseconds; accepts <c>5s</c>.</summary>
    Milliseconds,
    /// <summary>Microseconds; accepts <c>5ms</c>.</summary>
    Microseconds,
    /// <summary>File permission bits, read and printed in octal.</summary>
    Octal,
}
