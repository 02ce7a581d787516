namespace Garnet.Server.Rights;

/// <summary>
/// One kind of rules of a <see cref="Selector"/>: what they are about, what they allow, and the same as text. Whoever adds a kind derives from this and
/// puts it into the selector's list: copies, <see cref="Selector.AllowsEverything"/>, ACL LIST and ACL GETUSER follow.
/// </summary>
internal abstract class RulePart
{
    /// <summary>As ACL GETUSER calls it.</summary>
    internal abstract string Name { get; }

    /// <summary>True if it forbids nothing.</summary>
    internal abstract bool AllowsAll { get; }

    /// <summary>True if Redis has no such rules: they are told of only where they forbid something, so that its clients find what they know.</summary>
    internal virtual bool IsOurs => false;

    /// <summary>As ACL GETUSER shows it.</summary>
    internal abstract string Text { get; }

    /// <summary>As rules that lead to the same in a new selector, as ACL LIST shows and ACL SAVE writes them; none that need not be said.</summary>
    internal virtual string Rules => IsOurs && AllowsAll ? "" : Text;

    /// <summary>True if the rule, which is not empty, is one of these.</summary>
    internal abstract bool Takes(string rule);

    /// <summary>Applies one that it takes; nothing is changed if it is wrong.</summary>
    internal abstract RuleError Apply(string rule);

    /// <summary>A copy, which shares nothing that changes.</summary>
    internal abstract RulePart Copy();
}
