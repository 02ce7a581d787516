namespace Garnet.Replication;

/// <summary>What a token is worth here.</summary>
public enum TokenState
{
    /// <summary>Everything it covers can be read.</summary>
    Reached,
    /// <summary>Not yet.</summary>
    ToCome,
    /// <summary>Never: the history went on without it, or it is of a term of which it is not known here how it ended.</summary>
    GivenUp,
}
