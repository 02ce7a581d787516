namespace Garnet.Types.Collections;

/// <summary>How far the walk through a collection for its due entries has come, and what it has learned.</summary>
public struct DueVisit
{
    /// <summary>Where to go on; 0 at the beginning and at the end.</summary>
    public ulong Cursor;
    /// <summary>Entries that the last part looked at.</summary>
    public int Seen;
    /// <summary>The owner number of a collection with chunks.</summary>
    public ulong Owner;
    /// <summary>No entry that has been looked at, and is still there, is due earlier.</summary>
    public long NextMs = long.MaxValue;
    private readonly ulong _knownOwner;
    private readonly long _knownFromMs;

    /// <summary>
    /// A walk beside the commands begins: pieces that cannot be read are passed over, and noted as due when they are to be tried again. Of the collection with
    /// that owner number it is known that nothing is due before that moment.
    /// </summary>
    public DueVisit(ulong knownOwner, long knownFromMs) => (_knownOwner, _knownFromMs, PassesOver) = (knownOwner, knownFromMs, true);

    internal bool PassesOver { get; }

    internal void Note(long expireAtMs)
    {
        if (expireAtMs != 0)
            NextMs = Math.Min(NextMs, expireAtMs);
    }

    // True if there is nothing to be found.
    internal bool IsKnown(ulong owner, long nowMs)
    {
        Owner = owner;
        if (owner != _knownOwner || _knownFromMs <= nowMs)
            return false;
        Note(_knownFromMs);
        return true;
    }
}
