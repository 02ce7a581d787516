using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>A session's wait for room in memory that its steps did not find: it asks for some, and is called by the <see cref="RoomBell"/> when there may be.</summary>
public sealed class RoomWait
{
    private readonly MoverScheduler _movers;
    private readonly RoomBell _bell;
    private Action? _onRoom;
    private int _waits;

    internal RoomWait(MoverScheduler movers, RoomBell bell)
    {
        _movers = movers;
        _bell = bell;
    }

    /// <summary>
    /// Called once after each <see cref="Ask"/>, when there may be room: from any thread, with locks held, so that it may do no more than wake somebody. Null: nobody waits.
    /// </summary>
    public Action? OnRoom
    {
        get => _onRoom;
        set
        {
            Check.That(_onRoom is null, "store.U23 one waits for the room of a session");
            _onRoom = value;
            _bell.Add(this);
        }
    }

    /// <summary>There was no room for so many bytes: <see cref="OnRoom"/> is called when there may be, also if that is so by now.</summary>
    public void Ask(long bytes)
    {
        Interlocked.Exchange(ref _waits, 1); // before the bell knows of it
        _bell.Ask(_movers.Need(bytes));
        if (_movers.HasRoom(bytes, Claim.Limited))
            Ring(); // it came between the look and this
        else
            _movers.Want(bytes);
    }

    /// <summary>Nobody waits any more: what room there is was found without a call, or is not wanted.</summary>
    public void Withdraw()
    {
        if (IsUnderWay)
            Interlocked.Exchange(ref _waits, 0);
    }

    /// <summary>True while somebody waits to be called.</summary>
    internal bool IsUnderWay => Volatile.Read(ref _waits) != 0;

    /// <summary>Who waits, if anybody does, is to look again.</summary>
    internal void Ring()
    {
        if (Interlocked.Exchange(ref _waits, 0) == 1)
            _onRoom?.Invoke();
    }

    /// <summary>The session is over.</summary>
    internal void Close()
    {
        if (_onRoom is not null)
            _bell.Remove(this);
    }
}
