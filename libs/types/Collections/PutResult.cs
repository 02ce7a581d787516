namespace Garnet.Types.Collections;

/// <summary>What putting an entry came to.</summary>
public enum PutResult
{
    Added,
    Replaced,
    /// <summary>Memory ran out; nothing has changed.</summary>
    Failed,
}
