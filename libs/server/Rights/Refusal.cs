namespace Garnet.Server.Rights;

/// <summary>What rights say about a command: nothing against it (<c>default</c>), or why not, and what is refused.</summary>
/// <param name="Reason">Why not.</param>
/// <param name="At">The argument that is refused; 0 if what is refused is none.</param>
/// <param name="What">What is refused where that is no argument: a text that is at hand, since most commands are asked about; null for the command itself.</param>
internal readonly record struct Refusal(DenialReason Reason, int At = 0, string? What = null)
{
    /// <summary>True if there is nothing against it.</summary>
    internal bool IsNone => Reason == DenialReason.None;

    /// <summary>True if this refusal is told rather than that of another selector: as the reasons rank, and among equals that of the argument furthest behind.</summary>
    internal bool Outranks(in Refusal other) => Reason.Outranks(other.Reason) || (Reason == other.Reason && At > other.At);
}
