namespace Tsavorite;

/// <summary>
/// A step that knows which chunks it will come to says so before it comes to the first, and those that lie on a tier are fetched side by side (<see cref="ForeseenChunks"/>).
/// A look has the others of them fetched with the first that it lacks. A change waits for all of them before it begins, some at a time, and is put off meanwhile: what it had changed
/// would have to be taken back for each that is lacked later. What has come is taken to memory each time, where the change would take it too, so that it gets on however often it is put off.
/// So does a look that lacks more than is kept for it, which would lose the first pieces before it had the last (<see cref="TryTakeNamed"/>).
/// </summary>
public static unsafe class EditForesight
{
    /// <summary>The step will come to chunks that <see cref="TryForesee"/> is told of now.</summary>
    public static void BeginForesight(this ref RecordEdit edit) => edit.Foreseen.Begin(edit.Owner);

    /// <summary>
    /// The step will come to this chunk. False if no more may be told of now: so many are lacked, or what came back has filled memory beyond its limit by as much as a session may keep.
    /// </summary>
    /// <param name="edit">The step.</param>
    /// <param name="number">The chunk's number.</param>
    /// <param name="isNeeded">It cannot do without: if the chunk cannot be read, that is said now, before anything else is waited for.</param>
    /// <exception cref="Garnet.Common.GarnetException">The chunk, which is needed, cannot be read.</exception>
    public static bool TryForesee(this ref RecordEdit edit, uint number, bool isNeeded = true)
    {
        if (edit.Cold is not { } cold || !edit.Foreseen.TryAdd(number))
            return true;
        long bytes = edit.LackedBytes(cold, number, edit.MayAwait ? ChunkLack.Coming : ChunkLack.Unknown);
        if (bytes != 0)
            return edit.Foreseen.TryLack(number, bytes, edit.Core.Tier!.AskedBytesMax);
        if (!edit.MayAwait)
            return true;
        byte* chunk = isNeeded || edit.CanRead(number) ? edit.FindChunk(number) : null;
        // What comes back goes a little beyond the limit while the movers make room for it.
        return chunk == null || edit.Core.Arena.Used <= edit.Core.Arena.Ceiling + edit.Core.Tier!.KeptBytesMax;
    }

    /// <summary>
    /// Not all could be told of. True if this is a look: from now on it takes to memory what it comes to, as a change does, and is to tell of all once more.
    /// </summary>
    public static bool TryTakeNamed(this ref RecordEdit edit)
    {
        bool isLook = edit.Cold is not null && edit.Aim == EditAim.Look;
        if (isLook)
            edit.Aim = EditAim.Change;
        return isLook;
    }

    /// <summary>The rest of what a look names is only looked at: memory is full of what <see cref="TryTakeNamed"/> had it take.</summary>
    public static void EndTaking(this ref RecordEdit edit) => edit.Aim = EditAim.Look;

    /// <summary>True if memory could hold so many bytes of the value, whatever it holds now.</summary>
    public static bool Fits(this ref RecordEdit edit, long bytes) => edit.Core.Arena.Fixed + bytes <= edit.Core.Arena.Ceiling;

    /// <summary>True if a look at the chunk waits for nothing.</summary>
    public static bool IsThere(this ref RecordEdit edit, uint number) =>
        edit.Cold is not { } cold || !edit.Lacks(cold, number, ChunkLack.Coming);

    /// <summary>True if none of the chunks that were told of is lacked.</summary>
    public static bool LacksNone(this ref RecordEdit edit) => edit.Cold is null || edit.Foreseen.LacksNone;

    /// <summary>
    /// Before a change begins: true if chunks that were told of were lacked, and are there now, or cannot be read. It is to tell of all once more then: there may be others. False for a look.
    /// </summary>
    /// <exception cref="ColdMissException">It is done again once they are there.</exception>
    public static bool AwaitForeseen(this ref RecordEdit edit)
    {
        if (edit.Cold is not { } cold || !edit.MayAwait)
            return false;
        ReadOnlySpan<uint> lacked = edit.Foreseen.TakeLacked(edit.Owner);
        for (int i = 0; i < lacked.Length && (i == 0 || cold.MayWalkAhead); i++)
            edit.Lacks(cold, lacked[i], ChunkLack.Coming | ChunkLack.Fetches);
        if (!cold.HasMissing)
            return false;
        // By its name: its word becomes another one each time that it leaves again before the step begins, which is not to go on for ever.
        cold.Fetch(what: ChunkKey.Hash(edit.Core, edit.Key.Hash, edit.Owner, lacked[0]));
        return true;
    }
}
