using Garnet.Common;

namespace Tsavorite;

/// <summary>What a session's changes share: room for one chunk key, put together where a chunk is made or moved, and what they lack.</summary>
internal sealed unsafe class ChunkScratch : IDisposable
{
    private const int SlackBytes = 64;
    /// <summary>The session's reads of cold records; null where there is no tier.</summary>
    public ColdReads? Cold;
    /// <summary>Who cleans up behind a large change (<see cref="RecordEdit.CleanBehind"/>); null where nothing is changed.</summary>
    public Cleaner? Cleaner;
    /// <summary>Bytes of the record that found no room when a change was last refused for it; 0 if that had changed something.</summary>
    public long LackedBytes;
    /// <summary>What an edit has changed, as it was before; where there is a tier.</summary>
    public BeforeImages Before => _before ??= new BeforeImages();
    private BeforeImages? _before;
    /// <summary>How many of a value's chunks are fetched at once; where there is a tier.</summary>
    public ChunkAhead Ahead => _ahead ??= new ChunkAhead();
    private ChunkAhead? _ahead;
    /// <summary>The chunks that the step which runs will come to; where there is a tier.</summary>
    public ForeseenChunks Foreseen => _foreseen ??= new ForeseenChunks();
    private ForeseenChunks? _foreseen;
    private NativeArray<byte>? _memory; // most sessions make no chunk

    /// <summary>The chunk's key, valid until the next call.</summary>
    public KeyRef Key(in KeyRef root, ulong owner, uint number, ulong hash)
    {
        byte* key = (_memory ??= new NativeArray<byte>(Store.KeyBytesMax + SlackBytes)).Items;
        *(ulong*)key = owner;
        *(uint*)(key + 8) = number;
        root.Span.CopyTo(new Span<byte>(key + ChunkKey.HeadBytes, root.Length));
        return new KeyRef(key, root.Length + ChunkKey.HeadBytes, root.Namespace, hash);
    }

    /// <summary>
    /// What was fetched, for an edit or a look. A look shows it where it lies, unless it was read often enough to come back; a change has it in memory first (store.C5).
    /// A root comes back within the limit of <see cref="RecordRoom.MayReturn"/>, before anything is changed; whoever waits for his reads has had room made before.
    /// </summary>
    /// <exception cref="GarnetException">There is no room for the root (<see cref="Store.NoRoomToReturn"/>).</exception>
    public byte* Take(StoreCore core, Partition* partition, byte* bucket, in ColdFound found, EditAim aim, long nowMs)
    {
        Cold!.Forget(); // others of the same tag need not be looked at
        if (found.Image == null || (aim == EditAim.Look && !IsToComeBack(core, found, nowMs)))
            return found.Image;
        bool isAsked = aim == EditAim.Change && Record.Kind(found.Image) != RecordKind.Chunk && Cold!.MayPostpone is not null;
        if (isAsked && Record.IsLive(found.Image, nowMs) && !RecordRoom.MayReturn(core, partition, found.Image, out long bytes))
        {
            LackedBytes = bytes;
            throw NoRoom();
        }
        TierCount why = aim == EditAim.Look ? TierCount.Promoted : TierCount.Returned;
        return core.MustTakeBack(partition, bucket, found.Slot, found.Image, nowMs, why);
    }

    public void Dispose()
    {
        _memory?.Dispose();
        _memory = null;
    }

    private static GarnetException NoRoom() => new(ExitKind.Data, Store.NoRoomToReturn,
        "the value lies on the tier and would have to come back to be changed", "Wait until memory has room again");

    private bool IsToComeBack(StoreCore core, in ColdFound found, long nowMs)
    {
        if (Cold!.LooksAside || !Record.IsLive(found.Image, nowMs) || !Cold!.CountsLook(*found.Slot))
            return false;
        if (Record.Kind(found.Image) != RecordKind.Chunk && !Cold!.IsQuiet)
            Cold!.Hits++;
        return core.IsToBePromoted(found.Slot, found.Image);
    }
}
