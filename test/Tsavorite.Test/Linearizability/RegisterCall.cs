namespace Tsavorite.Test.Linearizability;

/// <summary>What was asked of a register.</summary>
internal enum RegisterAsk
{
    Get,
    Set,
    Delete,
    Increment,
}

/// <summary>One call on one key with the stamps of its beginning and its end; absent values are null.</summary>
internal sealed record RegisterCall(RegisterAsk Ask, long Argument, long? Result, long CalledAt, long ReturnedAt)
{
    /// <summary>The state after the call if it could run on <paramref name="state"/> with the result it had.</summary>
    public bool Allows(long? state, out long? after)
    {
        after = Ask switch
        {
            RegisterAsk.Set => Argument,
            RegisterAsk.Delete => null,
            RegisterAsk.Increment => (state ?? 0) + Argument,
            _ => state,
        };
        return Ask switch
        {
            RegisterAsk.Get => Result == state,
            RegisterAsk.Delete => Result == (state == null ? 0 : 1),
            RegisterAsk.Increment => Result == after,
            _ => true,
        };
    }
}
