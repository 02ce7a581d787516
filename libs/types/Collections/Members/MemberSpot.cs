using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Where the entry of a key probably lies in a chunked collection, found ahead of the command that will look for it, in steps: each
/// uses what the one before has asked of the memory, and a batch takes one step after the other, so that its commands wait together and
/// not each for itself. Nothing is locked: what is read may be wrong and leads to nothing but a useless hint.
/// </summary>
public unsafe struct MemberSpot
{
    private ulong _hash;
    private ulong _chunk;
    private byte* _at;
    private int _bytes;

    /// <summary>Asks for the bucket of the chunk; false if there is none to ask for.</summary>
    public static bool TryBegin(Store store, in KeyRef root, nint bucket, Arg key, out MemberSpot spot)
    {
        spot = default;
        if (!RootPeek.TryAt(store, root, bucket, Root.ChunkedBytes, out RootPeek peek) || !Root.IsChunked(peek.Value))
            return false;
        uint chunks = Root.Chunks(peek.Value);
        if (chunks == 0 || peek.Kind is not (RecordKind.Hash or RecordKind.Set or RecordKind.SortedSet))
            return false;
        spot._hash = RecordEdit.Hash(key.Bytes, key.Length, peek.Owner);
        spot._chunk = peek.PrefetchBucket(ChunkedMembers.NumberOf(spot._hash, chunks));
        return true;
    }

    /// <summary>Asks for the chunk's beginning.</summary>
    public void AskChunk(Store store) => _at = RootPeek.PrefetchChunk(store, _chunk);

    /// <summary>Asks for its fingerprints.</summary>
    public void AskSlots(Store store)
    {
        if (_at == null)
            return;
        _at = RootPeek.ChunkValue(store, _at, out _bytes);
        if (_at != null && !new Page(_at, _bytes).PrefetchSlots())
            _at = null;
    }

    /// <summary>Asks for the entry.</summary>
    public readonly void AskEntry()
    {
        if (_at != null)
            new Page(_at, _bytes).PrefetchEntry(ChunkedMembers.Fingerprint(_hash));
    }
}
