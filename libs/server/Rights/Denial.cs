namespace Garnet.Server.Rights;

/// <summary>A refusal, or several of one kind within a minute.</summary>
/// <param name="Reason">Why.</param>
/// <param name="Place">Where.</param>
/// <param name="Object">The command, key, channel or database that was refused; what is long is cut.</param>
/// <param name="User">Who.</param>
internal sealed record Denial(DenialReason Reason, DenialPlace Place, string Object, string User)
{
    /// <summary>How many there were.</summary>
    internal long Count { get; set; } = 1;

    /// <summary>When the last one was, Unix milliseconds.</summary>
    internal long UnixMs { get; set; }

    /// <summary>The client of the last one, as CLIENT LIST shows it.</summary>
    internal string Client { get; set; } = "";
}
