namespace Garnet.Wire.Consistency;

/// <summary>
/// A write of some keys as one step. Every key has one writer, who writes its keys one after the other, and no value is written twice:
/// so the order of a key's values is known without asking the server.
/// </summary>
internal sealed class Write(long begin, IReadOnlyList<(string Key, string Value)> pairs)
{
    /// <summary>When it was sent.</summary>
    public long Begin { get; } = begin;

    /// <summary>When it was acknowledged; <see cref="long.MaxValue"/> if it never was: then it may be lost, or come at any time.</summary>
    public long End { get; set; } = long.MaxValue;

    /// <summary>It was given up with the server that had it, as its writer found out: nobody may ever show it.</summary>
    public bool IsLost { get; set; }

    public IReadOnlyList<(string Key, string Value)> Pairs { get; } = pairs;

    public override string ToString() => $"write {string.Join(' ', Pairs.Select(static pair => $"{pair.Key}={pair.Value}"))} [{Begin}, {(End == long.MaxValue ? "-" : End)}]";
}
