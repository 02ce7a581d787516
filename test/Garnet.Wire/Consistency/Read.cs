namespace Garnet.Wire.Consistency;

/// <summary>What one command, or one transaction, has said of some keys; null for a key that was not there.</summary>
/// <param name="Place">Where: reads of one place never go back in time.</param>
/// <param name="NotBefore">What was acknowledged before this moment must be seen (a token, a barrier, a primary); 0 = nothing.</param>
internal sealed record Read(string Place, long Begin, long End, long NotBefore, IReadOnlyList<(string Key, string? Value)> Seen)
{
    public override string ToString() =>
        $"read at {Place} {string.Join(' ', Seen.Select(static pair => $"{pair.Key}={pair.Value ?? "nothing"}"))} [{Begin}, {End}]{(NotBefore == 0 ? "" : $" not before {NotBefore}")}";
}
