using Garnet.Server.Clients;

namespace Garnet.Server.Tiering;

/// <summary>
/// The clients of a reactor whose commands found no room, in the order in which they have come. Rules:
/// tiering.M1  First come, first served: while one waits, whoever else needs room, and may wait, stands behind him, though there be some by then. Who has just been
///     served goes on with what he has sent for this batch: a pipeline is not a wait for each of its commands.
/// tiering.M2  Whoever gives memory back calls them (<see cref="Come"/>, from any thread), in their order; the first who finds none again stays the first, and is called again.
/// tiering.M3  None holds the others up but by waiting. These have no place: who is gone; who cannot go on when he is called, as his replies are not read or wait for the
///     log; who needs much more than others and has not got it within their patience. Who waits for the tier is passed, and keeps his place.
/// </summary>
internal sealed class RoomLine
{
    private const long LargeBytes = 1 << 20; // what a round of the mover makes room for

    private readonly LinkedList<Connection> _clients = new();
    private Connection? _goesOn;
    private volatile bool _isCome;

    /// <summary>True while somebody waits; or did a moment ago.</summary>
    internal bool HasAny => _clients.Count != 0;

    /// <summary>There may be room. From any thread.</summary>
    internal void Come() => _isCome = true;

    /// <summary>The client has found no room for so many bytes, or others were before it: it has its place, or keeps the one it has.</summary>
    internal void Join(Connection client, bool isSame)
    {
        LinkedListNode<Connection> place = client.NotedPutOffs.RoomPlace;
        if (!isSame)
            Leave(client);
        if (place.List is null)
            _clients.AddLast(place);
    }

    /// <summary>The client waits no more, or has no place for so long as it does.</summary>
    internal void Leave(Connection client)
    {
        if (client.PutOffs?.RoomPlace is { List: not null } place)
            _clients.Remove(place);
    }

    /// <summary>The first has found no room: it is not called before there may be some.</summary>
    internal void Stop() => _isCome = false;

    /// <summary>True if others were there before the client, whose command is asked about (tiering.M1).</summary>
    internal bool IsBehind(Connection client)
    {
        if (client == _goesOn)
            return false;
        _goesOn = null;
        for (LinkedListNode<Connection>? place = _clients.First, next; place is not null && place.Value != client; place = next)
        {
            next = place.Next;
            if (!Waits(place.Value))
                Serve(place);
            else if (!WaitsElsewhere(place.Value))
                return true;
        }

        if (client.PutOffs is { RoomPlace.List: not null } own && own.RoomCommand != client.Commands - 1)
        {
            Serve(own.RoomPlace); // the command that waited has run
            _goesOn = client;
        }

        return false;
    }

    /// <summary>Whether it is more than others may be held up for.</summary>
    internal static bool IsLarge(long bytes) => bytes > LargeBytes;

    /// <summary>Between two batches: who has no place any more loses it. True if somebody waits, and there may be room.</summary>
    internal bool IsCalled()
    {
        _goesOn = null;
        for (LinkedListNode<Connection>? place = _clients.First, next; place is not null; place = next)
        {
            next = place.Next;
            if (Waits(place.Value) && WaitsElsewhere(place.Value))
                continue;
            if (Waits(place.Value) && (place.Value.Parked || place.Value.Carried))
                return _isCome;
            Serve(place); // it waits no longer, or cannot go on now
        }

        return false;
    }

    /// <summary>The next so many, in their order.</summary>
    internal void CopyFirst(int count, List<Connection> to)
    {
        for (LinkedListNode<Connection>? place = _clients.First; place is not null && to.Count < count; place = place.Next)
        {
            if (!WaitsElsewhere(place.Value))
                to.Add(place.Value);
        }
    }

    // Who comes behind it is to look: there may be more.
    private void Serve(LinkedListNode<Connection> place)
    {
        _clients.Remove(place);
        _isCome = true;
    }

    // For what lies on the tier: it keeps its place, and is passed.
    private static bool WaitsElsewhere(Connection client) => client.Parked && client.Waiting is not MemoryWait;

    // RoomCommand is the number of the client's command for exactly as long as that is put off for want of room.
    private static bool Waits(Connection client) => !client.Closed && client.PutOffs?.RoomCommand == client.Commands;
}
