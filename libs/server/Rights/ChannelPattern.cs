using Garnet.Common;

namespace Garnet.Server.Rights;

/// <summary>A pattern of channels; compiled once.</summary>
internal sealed class ChannelPattern(string pattern)
{
    private readonly byte[] _bytes = RuleText.Bytes(pattern);
    private readonly Glob _glob = new(RuleText.Bytes(pattern));

    /// <summary>The pattern alone.</summary>
    internal string Pattern { get; } = pattern;

    /// <summary>True if it allows the channel; a pattern to subscribe to must be this one itself.</summary>
    internal bool Allows(ReadOnlySpan<byte> name, bool isPattern) => isPattern ? name.SequenceEqual(_bytes) : _glob.Matches(name);

    /// <summary>As a rule.</summary>
    public override string ToString() => "&" + Pattern;
}
