namespace Tsavorite;

/// <summary>A record on the tier that was looked for: what was fetched of it, and the word that names it where it stands.</summary>
internal unsafe struct ColdFound
{
    /// <summary>Null: there is no such record on the tier.</summary>
    public byte* Image;
    public ulong* Slot;
    public ulong Word;
    /// <summary>The life of the segment that it was read in: without the lock the same word may name another record a moment later (store.C3).</summary>
    public ulong Life;
}
