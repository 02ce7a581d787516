using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>Memory that is set aside for all entries which a call brings, if those are many (store.U20), until it is disposed.</summary>
internal readonly ref struct WriteRoom
{
    private readonly StepRoom? _promisedBy;

    private WriteRoom(StepRoom? promisedBy, bool isThere) => (_promisedBy, IsThere) = (promisedBy, isThere);

    /// <summary>Of a call that keeps nothing of what it brings.</summary>
    internal static WriteRoom None => new(null, isThere: true);

    /// <summary>False if there is no room: the call is refused before it changes anything.</summary>
    internal bool IsThere { get; }

    /// <param name="call">What brings them.</param>
    /// <param name="cost">What they take.</param>
    /// <exception cref="RoomMissException">The call is put off until there is room.</exception>
    internal static WriteRoom For(ref Call call, scoped in EntryCost cost)
    {
        long bytes = cost.LargeBytes(ref call);
        if (bytes == 0 && call.Session.Tier is not null && call.Count > cost.Words + 2)
            bytes = EntryCost.Large; // what each of them changes comes back from the tier first: a hundred times as much as they are
        if (bytes == 0)
            return new WriteRoom(null, isThere: true);
        StepRoom room = call.Session.Room;
        bool isThere = room.TryPromise(bytes);
        return new WriteRoom(isThere ? room : null, isThere);
    }

    public void Dispose() => _promisedBy?.EndPromise();
}
