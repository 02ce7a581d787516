using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>
/// What the steps of a session may take: of memory (store.U20) and of the log (store.U22). Whoever changes several things asks here before the
/// first of them.
/// </summary>
public sealed unsafe class StepRoom
{
    private const long FixedArgumentBytesMax = 64;
    private const long PerChange = 2; // what the count of changes grows by: when one begins, and when it ends

    private readonly StoreSession _session;
    private readonly Store _store;
    private readonly StoreCore _core;
    private readonly HeldPartitions _held;
    private readonly StepBudget _budget;
    private bool _wasAssured;

    internal StepRoom(StoreSession session, Store store, HeldPartitions held, StepBudget budget)
    {
        _session = session;
        _store = store;
        _core = store.Core;
        _held = held;
        _budget = budget;
        Wait = new RoomWait(store.Movers, store.Core.Arena.Bell);
    }

    /// <summary>Within a step, a command begins that is refused, if it is, by itself (store.U22), and may gather of the tier as much as one outside.</summary>
    public void BeginPart()
    {
        _budget.Begin();
        _session.Tier?.BeginPart();
    }

    /// <summary>
    /// Says that the step, whose locks are held, will write so many bytes at most to the log: before the first change of a command that
    /// makes several (store.U22). Without locks nothing is said.
    /// </summary>
    /// <exception cref="TooLargeException">The log cannot take so much; nothing was changed.</exception>
    public void Announce(long bytes)
    {
        if (_core.Logging && _session.HoldsAny)
            _budget.Ask(_held.First, bytes);
    }

    /// <summary>
    /// <see cref="Announce(long)"/> for so many changes of a key, with so many bytes of arguments besides their fixed parts; before one of
    /// them, not before each, is the deletion of a record whose time has come.
    /// </summary>
    /// <exception cref="TooLargeException">The log cannot take so much; nothing was changed.</exception>
    public void Announce(in KeyRef key, long changes, long argumentBytes) =>
        Announce(argumentBytes + (changes * (key.Length + IWriteLog.EntryHeadBytes + FixedArgumentBytesMax)) + key.Length
            + IWriteLog.EntryHeadBytes);

    /// <summary>Bytes that one step may write to the log.</summary>
    public long LogBytesMax => _core.LogInForce is { } log ? log.StepBytesMax : long.MaxValue;

    /// <summary>The error of a step that would write so many bytes.</summary>
    public TooLargeException TooLong(long bytes) => new(StepBudget.What, bytes, LogBytesMax);

    /// <summary>
    /// Makes room for about <paramref name="bytes"/> more, evicting by policy if need be, for some milliseconds. With locks held nothing is evicted.
    /// False if the limit leaves no room, and none <see cref="IsComing"/>: the caller refuses its write before it changes anything.
    /// </summary>
    public bool Ensure(long bytes)
    {
        IsComing = false;
        if (_session.HoldsAny)
            return _store.Movers.HasRoom(bytes, _held.Claim);
        bool hasRoom = _store.Movers.EnsureRoom(bytes, _session.NowMs, out bool isComing);
        IsComing = isComing;
        return hasRoom;
    }

    /// <summary>
    /// The last <see cref="Ensure"/> has found no room only because records are still on their way to the tier, or the movers go on evicting: whoever can wait does well
    /// to ask again soon.
    /// </summary>
    public bool IsComing { get; private set; }

    /// <summary><see cref="Ensure"/> for who cannot wait for what <see cref="IsComing"/>: all of it is made here and now, but for what is on its way to the tier.</summary>
    public bool EnsureInPlace(long bytes) => !_session.HoldsAny && _store.Movers.EnsureRoomInPlace(bytes, _session.NowMs);

    /// <summary><see cref="Ensure"/> for a step that has waited for long enough for what <see cref="IsComing"/>: by evicting, where the policy allows it and the tier is short of room.</summary>
    public bool EnsureNow(long bytes) => !_session.HoldsAny && _store.Movers.EnsureRoomNow(bytes, _session.NowMs);

    /// <summary>Waiting for room that there was not.</summary>
    public RoomWait Wait { get; }

    /// <summary>The session is over.</summary>
    internal void Close() => Wait.Close();

    /// <summary>
    /// store.U23: asked whether the step that runs may be put off while room is made for its first change: it is left by a
    /// <see cref="RoomMissException"/> then. Null, as it is at first: such a change is refused.
    /// </summary>
    public Func<bool>? MayPostpone { get; set; }

    /// <summary>
    /// <see cref="Ensure"/> of a step that has changed nothing yet: it is put off if room is on its way, or can be made once its locks are given back.
    /// </summary>
    /// <exception cref="RoomMissException">It is put off.</exception>
    public bool Demand(long bytes)
    {
        if (Ensure(bytes))
            return true;
        if (IsComing || _session.HoldsAny)
            Miss(bytes);
        return IsComing && EnsureInPlace(bytes);
    }

    /// <summary>
    /// store.U20 Sets aside memory for a command that brings so many bytes of several entries, before its locks or under them: it is refused none on
    /// the way, whoever else takes some. An assured step has found room for it already. Holds to the end of the step, or to
    /// <see cref="EndPromise"/>; false if there is no room.
    /// </summary>
    /// <exception cref="RoomMissException">It is put off.</exception>
    public bool TryPromise(long bytes)
    {
        Check.That(_held.Claim != Claim.Promised, "store.U20 one promise at a time");
        _wasAssured = IsBeyondLimit;
        if (_wasAssured)
            return _held.TryPromise(bytes, isForced: true);
        if (!_store.Movers.Fits(bytes))
            return false;
        bool hasRoom = Ensure(bytes);
        if (_held.TryPromise(bytes, isForced: false))
            return true; // also what goes a little beyond the limit, whether there is room: it would wait for nothing
        if (hasRoom || IsComing || _session.HoldsAny)
            Miss(bytes); // if there was room, others were promised it meanwhile
        return IsComing && EnsureInPlace(bytes) && _held.TryPromise(bytes, isForced: false);
    }

    /// <summary>A change was refused memory: not counted as one, unless it lacked nothing that can be had, or the step cannot be put off.</summary>
    internal void Miss(long bytes, ref long changes)
    {
        if (bytes == 0)
            return;
        changes -= PerChange; // while it is asked whether the step has changed anything: this one has not
        Miss(bytes);
        changes += PerChange;
    }

    // Under locks nothing is evicted: whoever catches it has room made behind them.
    private void Miss(long bytes)
    {
        if (_store.Movers.MayMake(bytes) && MayPostpone is { } may && may())
            throw new RoomMissException(bytes);
    }

    /// <summary>
    /// Room was found for about what the step still takes: it is not refused memory on the way, though others were faster or it takes more than
    /// was thought (store.U20), as long as it stays within what its claim may take beyond the limit. What it took beyond is evicted after the step.
    /// Holds to the step's end; false if it held before. Said before the locks are taken, or under them.
    /// </summary>
    public bool TryAssure()
    {
        if (IsBeyondLimit)
            return false;
        _held.SetClaim(Claim.Assured);
        return true;
    }

    /// <summary><see cref="TryAssure"/> for as long as what it returns is not disposed of.</summary>
    public Assurance Assure() => new(this);

    /// <summary><see cref="TryAssure"/> where keys are evicted for it behind the step; where none may be, what there is not is refused.</summary>
    public void AssureWhereEvicted()
    {
        if (_store.Movers.Policy != EvictionPolicy.NoEviction)
            TryAssure();
    }

    /// <summary>The command is over that <see cref="TryPromise"/> was for.</summary>
    public void EndPromise() => _held.EndPromise(_wasAssured ? Claim.Assured : Claim.Limited);

    private bool IsBeyondLimit => _held.Claim != Claim.Limited;

    /// <summary>What <see cref="Assure"/> gives a part of a step; it ends only what it began.</summary>
    public readonly ref struct Assurance : IDisposable
    {
        private readonly StepRoom? _began;

        internal Assurance(StepRoom room) => _began = room.TryAssure() ? room : null;

        /// <summary>False if the step was assured before.</summary>
        public bool IsNew => _began is not null;

        /// <inheritdoc/>
        public void Dispose() => _began?._held.SetClaim(Claim.Limited);
    }
}
