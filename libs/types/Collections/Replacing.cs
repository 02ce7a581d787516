using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Puts a value in the place of what is under a key, in more changes than one: room for all of it in the log (store.U22) and in memory (store.U20) is
/// found before the first of them, so that whoever is refused has changed nothing. If it does not come to its end, nothing is under the key.
/// The key's partition is locked by the session meanwhile.
/// </summary>
public ref struct Replacing(StoreSession store, KeyRef target)
{
    private StepRoom.Assurance _assurance;
    private bool _begun, _isDone;

    /// <summary>
    /// Removes what is under the key, unless there is no room for what is to come: about so many bytes of memory, and so many changes with so
    /// many bytes of arguments at most. False if it is memory that is missing.
    /// </summary>
    /// <exception cref="Garnet.Common.Faults.TooLargeException">The log cannot take it.</exception>
    /// <exception cref="RoomMissException">Nothing was changed, and room may be made.</exception>
    public bool TryBegin(long memoryBytes, long changes, long argumentBytes)
    {
        store.Room.Announce(in target, changes + 2, argumentBytes); // and the deletion, and another one if it does not come to its end
        if (!store.Room.Ensure(memoryBytes) && !store.Room.Demand(Math.Max(memoryBytes - OldBytes(), 0)))
            return false;
        _assurance = store.Room.Assure();
        _begun = true;
        var delete = default(DeleteKey);
        store.Modify(in target, ref delete);
        return true;
    }

    // What the deletion gives back: looked at only where memory is short, since a large collection has many records.
    private readonly long OldBytes()
    {
        var old = default(FootprintLook);
        store.Examine(in target, ref old, quiet: true);
        return old.Bytes;
    }

    /// <summary>It has come to its end, with that outcome.</summary>
    public Outcome End(Outcome outcome)
    {
        _isDone = outcome == Outcome.Done;
        return outcome;
    }

    /// <summary>Leaves nothing half done.</summary>
    public void Dispose()
    {
        if (_begun && !_isDone && (store.Changes & 1) == 0) // else the process is about to end (net.R8)
        {
            var delete = default(DeleteKey);
            store.Modify(in target, ref delete);
        }

        _assurance.Dispose();
    }
}
