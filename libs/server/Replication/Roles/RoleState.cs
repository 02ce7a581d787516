using Garnet.Common;
using Garnet.Replication;

namespace Garnet.Server.Replication;

/// <summary>
/// The role of this server, and the one it has been told to take. A word (REPLICAOF, FAILOVER, a stop) comes from any thread and is one step
/// under <see cref="Gate"/>; what follows from it is done by <see cref="RoleThread"/>.
///
/// replication.Z1  A role is changed on one thread, one change after the other; for clients it is changed with the word: from then on a replica
///     refuses writes, and a primary to be lets them wait until it is one.
/// </summary>
internal sealed class RoleState : IRole
{
    private readonly SettingTable _table;
    private Peer? _wantedPrimary;
    private bool _isWanted, _stops;
    private Handover? _handover;
    private volatile bool _isReplica, _isChanging;
    private long _words;
    private volatile Following? _following;
    private volatile Follower? _follower;

    internal RoleState(SettingTable table, ReplicationSettings settings)
    {
        _table = table;
        Configured = Peer.Configured(settings.ReplicaOf);
        _isReplica = Configured is not null;
    }

    /// <summary>
    /// The one lock of the role. It guards what is wanted, the handover and the stop, and every change of <see cref="IsReplica"/> and
    /// <see cref="IsChanging"/>; whoever judges these and acts by it holds it for both. Nobody waits for another thread under it.
    /// <see cref="Follower"/> and <see cref="Following"/> are set by the role's thread alone, which then looks for another word
    /// (<see cref="Settle"/>), and are read without it.
    /// </summary>
    internal Lock Gate { get; } = new();

    /// <summary>Raised with every word, under the lock.</summary>
    internal event Action? Told;

    /// <summary>Raised when clients that wait may find something new: a role has been taken, or the log of one has ended.</summary>
    internal event Action? Moved;

    /// <summary>The primary that the settings name; null if this server starts as one.</summary>
    internal Peer? Configured { get; }

    /// <inheritdoc/>
    public bool IsReplica => _isReplica;

    /// <inheritdoc/>
    public bool IsChanging => _isChanging;

    /// <inheritdoc/>
    public Follower? Follower
    {
        get => _follower;
        internal set => _follower = value;
    }

    /// <inheritdoc/>
    public Following? Following
    {
        get => _following;
        internal set => _following = value;
    }

    /// <summary>The primary that is followed, or is to be.</summary>
    internal Peer Primary
    {
        get
        {
            lock (Gate)
                return (_isWanted ? _wantedPrimary : null) ?? _following?.Primary ?? _wantedPrimary ?? new Peer("", 0);
        }
    }

    /// <summary>The handover that is under way; null if there is none.</summary>
    internal Handover? Handover => Volatile.Read(ref _handover);

    /// <summary>True when the server stops: no role is taken any more.</summary>
    internal bool Stops => Volatile.Read(ref _stops);

    /// <summary>True if a role is to be taken, or none any more.</summary>
    internal bool IsTold
    {
        get
        {
            lock (Gate)
                return _isWanted || _stops;
        }
    }

    /// <summary>
    /// How many words there have been. Whoever has looked at the role, acts, and then finds as many as before has acted before the next role was
    /// begun: no lock is needed for that.
    /// </summary>
    internal long Words => Interlocked.Read(ref _words);

    /// <summary>There may be something to acknowledge to the primary.</summary>
    internal void NudgeAck() => _following?.NudgeAck();

    /// <summary>REPLICAOF: from now on this server is that one's replica. False if it is already.</summary>
    internal bool Follow(Peer primary)
    {
        lock (Gate)
        {
            if (_isWanted ? primary == _wantedPrimary : _following?.Primary == primary)
                return false;
            Want(primary);
            return true;
        }
    }

    /// <summary>REPLICAOF NO ONE. False if the server is a primary already.</summary>
    internal bool LeadAlone()
    {
        lock (Gate)
        {
            if (!_isReplica)
                return false;
            Want(null);
            return true;
        }
    }

    /// <summary>The role is to be given away; by whoever has found, under the lock, that it may be.</summary>
    internal void Give(Handover handover)
    {
        lock (Gate)
        {
            _handover = handover;
            _isChanging = true; // replication.Z7, in RoleGiving
            Interlocked.Increment(ref _words);
            Told?.Invoke();
        }
    }

    /// <summary>FAILOVER ABORT; false if there is nothing to abort.</summary>
    internal bool TryAbort()
    {
        lock (Gate)
        {
            _handover?.Abort();
            return _handover is not null;
        }
    }

    /// <summary>The log of this primary has ended; it gives its role away.</summary>
    internal void OnLogEnded() => Moved?.Invoke();

    /// <summary>The handover has ended: whoever leads now is followed, if nobody has been named meanwhile and the server is to go on.</summary>
    internal void EndHandover(Peer? next)
    {
        lock (Gate)
        {
            bool follows = next is not null && !_isWanted && _handover is { Order.Then: null };
            _handover = null;
            if (follows)
                Want(next);
        }
    }

    /// <summary>The role that is to be taken now: null = primary. False if there is none.</summary>
    internal bool TryTakeWanted(out Peer? primary)
    {
        lock (Gate)
        {
            primary = _wantedPrimary;
            bool any = _isWanted && !_stops;
            _isWanted = false;
            return any;
        }
    }

    /// <summary>The role has been taken, unless another one is wanted by now.</summary>
    internal void Settle()
    {
        lock (Gate)
        {
            if (_isWanted || _stops)
                _following?.Cancel();
            else
                _isChanging = false;
        }

        Moved?.Invoke();
    }

    /// <summary>No role is taken any more, none given away, and nobody followed.</summary>
    internal void Stop()
    {
        lock (Gate)
        {
            _stops = true;
            _handover?.Abort();
            _following?.Cancel();
        }
    }

    private void Want(Peer? primary)
    {
        (_wantedPrimary, _isWanted) = (primary, true);
        _isReplica = primary is not null; // replication.Z1
        _isChanging = true;
        Interlocked.Increment(ref _words);
        string text = primary is null ? "" : $"{primary.Host} {primary.Port}";
        _table.SetAtStart("replicaof", text, SettingSource.ConfigSet, "REPLICAOF");
        _following?.Cancel();
        _handover?.Abort();
        Told?.Invoke();
    }
}
