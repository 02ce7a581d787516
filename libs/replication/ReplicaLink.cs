using System.Buffers.Binary;
using System.Text;
using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Common.Time;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Replication;

/// <summary>
/// One replica as its primary sees it. A machine without threads, sockets or waits: <see cref="Fill"/> says what to send next,
/// <see cref="Take"/> what came; whoever drives it does the rest, and does not call both at once.
///
/// replication.P1  Batches are sent behind a place that both logs agree about, or behind a snapshot cut between two batches; each once, in order.
/// replication.P2  What a replica has not taken is kept within limits; one that is slower than those is sent away with the reason and
///     never waited for.
/// replication.P3  What a replica acknowledges counts from the moment its plan is carried out, and if it names, by its checksums, a place that
///     this very link has gone through: numbers of another history are no acknowledgement.
/// replication.P4  Nobody is sent back in time within one history: who is ahead of a replica comes again until that has caught up, or leads.
/// </summary>
public sealed class ReplicaLink(IShipper owner, HelloFacts hello, IClock clock) : IDisposable
{
    /// <summary>After so long without anything to say a primary says that it is there, microseconds.</summary>
    public const long PingUs = 1_000_000;

    private const int BytesAtOnce = 256 << 10;

    private readonly Lock _ackGate = new();
    private BatchFeed? _feed;
    private FullCopy? _copy;
    private bool _isBroken;
    private FrameWriter? _to;
    private long _sentUs = clock.MonotonicUs;
    private long _ackedUs = clock.MonotonicUs;
    private AckFrame _ack;
    private ShippedPlaces? _places;
    private ulong _told = ulong.MaxValue;
    private DigestFrame? _digest;
    private volatile LinkStage _stage;

    /// <summary>What the replica said of itself.</summary>
    public HelloFacts Hello => hello;

    /// <summary>How far the link has come.</summary>
    public LinkStage Stage => _stage;

    /// <summary>Why it ended.</summary>
    public string EndReason { get; private set; } = "";

    /// <summary>True if the replica got a snapshot.</summary>
    public bool WasFull { get; private set; }

    /// <summary>The last batch sent.</summary>
    public ulong Shipped => Volatile.Read(ref _places)?.End ?? 0;

    /// <summary>True if the replica streams, and its readers see what is in the batch of the term.</summary>
    public bool HasApplied(uint term, ulong batch)
    {
        AckFrame ack = Ack;
        return Counts(ack, term) && ack.Applied >= batch;
    }

    /// <summary>True if the replica streams, and has the batch of the term on its disk.</summary>
    public bool HasDurable(uint term, ulong batch)
    {
        AckFrame ack = Ack;
        return Counts(ack, term) && ack.Durable >= Math.Max(batch, 1);
    }

    // replication.P3. A place of a later term than the write's has it behind it, as long as the write is of this history: its owner looks at that.
    private bool Counts(AckFrame ack, uint term) => _stage == LinkStage.Streaming && ack.Term >= Math.Max(term, 1);

    /// <summary>The first batch that it may still need: sent is not received. Nothing is needed before a plan is made.</summary>
    public ulong Needed => _feed?.Needed ?? ulong.MaxValue;

    /// <summary>What the replica said last.</summary>
    public AckFrame Ack
    {
        get
        {
            lock (_ackGate) return _ack;
        }
    }

    /// <summary>Microseconds since the replica was heard last.</summary>
    public long SilentUs => clock.MonotonicUs - Volatile.Read(ref _ackedUs);

    /// <summary>True for a replica that keeps up, is there, and has not said yet that it has the batch.</summary>
    public bool IsBehind(ulong batch) => _stage == LinkStage.Streaming && SilentUs < 2 * PingUs && Ack.Received < batch;

    /// <summary>True if the replica has applied the batch, and was not told yet what the data behind it are.</summary>
    public bool Awaits(ulong batch) => _stage == LinkStage.Streaming && Ack.Applied == batch && _told != batch;

    /// <summary>The replica is to be told what the data behind a batch are; from any thread.</summary>
    public void Tell(DigestFrame digest)
    {
        _told = digest.Batch;
        Volatile.Write(ref _digest, digest);
    }

    /// <summary>Adds what is to be sent next; false if there is nothing now.</summary>
    public bool Fill(FrameWriter to)
    {
        int before = to.Count;
        _to = to;
        bool more = _stage switch
        {
            LinkStage.Planning => Plan(),
            LinkStage.Cut => Announce(),
            LinkStage.Snapshot => Walk(),
            LinkStage.Streaming => Stream(),
            _ => false,
        };
        if (to.Count > before)
            _sentUs = clock.MonotonicUs;
        else if (_stage != LinkStage.Ended && clock.MonotonicUs - _sentUs >= PingUs)
            Ping();
        return more || to.Count > before;
    }

    /// <summary>Takes frames of the replica; false if the link is over.</summary>
    public bool Take(FrameReader from)
    {
        while (_stage != LinkStage.Ended && from.TryNext(out FrameKind kind, out ReadOnlySpan<byte> body))
        {
            Volatile.Write(ref _ackedUs, clock.MonotonicUs);
            if (kind == FrameKind.Bye)
                End("the replica left: " + Encoding.UTF8.GetString(body));
            else if (kind == FrameKind.SnapshotAck
                && !(body.Length == sizeof(ulong) && (_copy?.Acknowledge(BinaryPrimitives.ReadUInt64LittleEndian(body)) ?? true)))
                End("the replica acknowledged what cannot be");
            else if (kind == FrameKind.Ack && !TryAck(body))
                End("the replica acknowledged what cannot be");
        }

        if (from.Fault is { } fault)
            End("the replica sent nonsense: " + fault);
        return _stage != LinkStage.Ended;
    }

    /// <summary>Ends the link; the reason is told to the replica if it can still be told anything.</summary>
    public void End(string reason)
    {
        if (_stage == LinkStage.Ended)
            return;
        EndReason = reason;
        _stage = LinkStage.Ended;
    }

    /// <summary>The connection is gone; the replica may come back to what was under way.</summary>
    public void Break(string reason)
    {
        _isBroken |= _stage != LinkStage.Ended;
        End(reason);
    }

    /// <summary>
    /// The copy under way when the connection broke, from then on the caller's; null if there is none to go on with. One of which the replica
    /// is not known to have anything saves nothing, and while it is kept nobody else gets a snapshot: so whoever only greets and goes holds up nobody.
    /// </summary>
    public FullCopy? TakeCopy()
    {
        if (!_isBroken || _copy is not { At.IsKnown: true, CanGoOn: true } copy)
            return null;
        (_copy, _feed) = (null, null);
        return copy;
    }

    /// <summary>True if the connection broke while the replica followed: it will come back to <see cref="Needed"/>.</summary>
    public bool LeavesPlace => _isBroken && _feed is not null && _copy is null;

    /// <summary>The last frame.</summary>
    public void Farewell(FrameWriter to) => to.Add(FrameKind.Bye, Encoding.UTF8.GetBytes(EndReason));

    /// <inheritdoc/>
    public void Dispose()
    {
        End("closed");
        _copy?.Dispose();
        _feed?.Dispose();
    }

    private bool Plan()
    {
        owner.Backlog.Keep();
        LogPosition? from = owner.Reaches(hello.Position) ? hello.Position : owner.Reaches(hello.Earlier) ? hello.Earlier : null;
        if (from is not null)
        {
            _feed = new BatchFeed(owner.Backlog, () => owner.LogOnDisk, from.Batch);
            Volatile.Write(ref _places, new ShippedPlaces(owner.Backlog, from));
            _stage = LinkStage.Streaming; // before others hear of the plan
            Add(from, clock.UnixUs, isFull: false);
            return true;
        }

        if (owner.IsToCome(hello.Position))
        {
            // replication.P4
            End($"this server is a replica itself, at {owner.Backlog.End}, and has not got yet what is at {hello.Position}");
            return true;
        }

        if (!owner.TryResume(hello, out _copy))
            return false;
        if (_copy is not null)
        {
            _feed = _copy.Feed;
            BeginCopy(resumes: true);
            return true;
        }

        StoreSnapshot? snapshot = owner.TryCut(); // replication.P1
        if (snapshot is null)
            return false; // another one is being taken: it is this replica's turn next
        bool isNew = hello.Earlier.Batch == 0; // it has never written anything: its own beginning is no other history
        if (!isNew && owner.Diverges(hello.Position))
            owner.OnDiverged(hello);
        _copy = new FullCopy(snapshot, batch => new BatchFeed(owner.Backlog, () => owner.LogOnDisk, batch));
        _feed = _copy.Feed;
        _stage = LinkStage.Cut;
        return true;
    }

    // The sublogs are about to write the last batch before the cut; then its checksums are known.
    private bool Announce()
    {
        ulong batch = _copy!.Batch;
        if (owner.Backlog.End.Batch < batch)
            return false;
        if (owner.Backlog.PositionAt(batch) is not { } at)
        {
            End("the place of the snapshot in the log is not known any more");
            return true;
        }

        (_copy.At, _copy.StartedUnixUs) = (at, clock.UnixUs);
        BeginCopy(resumes: false);
        return true;
    }

    private void BeginCopy(bool resumes)
    {
        WasFull = true;
        Volatile.Write(ref _places, new ShippedPlaces(owner.Backlog, _copy!.At));
        Add(_copy.At, _copy.StartedUnixUs, isFull: true, resumes);
        _stage = LinkStage.Snapshot;
    }

    private bool Walk()
    {
        bool filled = _copy!.Fill(_to!, out string? failure);
        if (failure is not null)
            End(failure); // replication.P2
        else if (_copy.IsSent)
            _stage = LinkStage.Streaming; // what is not acknowledged yet is kept: the connection may still break
        return filled || failure is not null;
    }

    private bool Stream()
    {
        bool any = false;
        while (_to!.Count < BytesAtOnce && _feed!.TryNext() is { } batch)
        {
            for (int part = 0; part < batch.Parts; part++)
                _to.Add(FrameKind.Batch, batch.Part(part));
            _places!.Add(batch);
            batch.Release();
            any = true;
        }

        if (Interlocked.Exchange(ref _digest, null) is { } digest)
            _to.Add(FrameKind.Digest, digest.Encode());
        if (_feed!.IsLost)
            // replication.P2
            End($"the replica is too slow: batch {_feed.Next} is not kept any more (repl-backlog-size, client-output-buffer-limit)");
        return any;
    }

    private bool TryAck(ReadOnlySpan<byte> body)
    {
        if (!AckFrame.TryRead(body, out AckFrame ack))
            return false;
        if (_stage != LinkStage.Streaming)
            return true; // a sign of life: of this history it has nothing yet (replication.P3)
        if (ack.Term != 0)
        {
            bool? isOurs = _places!.Has(ack.Term, ack.Received, ack.Mark);
            if (isOurs is null)
                return true; // far behind: it is believed once it names a place that is still known
            if (!isOurs.Value)
                return false;
            _copy?.End(); // it has all; the feed goes on
            _copy = null;
            _feed!.Confirm(ack.Received);
        }

        lock (_ackGate)
            _ack = ack;

        owner.OnAck();
        return true;
    }

    private void Ping()
    {
        Span<byte> body = stackalloc byte[PingFrame.Bytes];
        new PingFrame(owner.Term, owner.Backlog.End.Batch, clock.UnixUs).Write(body);
        _to!.Add(FrameKind.Ping, body);
        _sentUs = clock.MonotonicUs;
    }

    private void Add(LogPosition at, long startedUnixUs, bool isFull, bool resumes = false)
    {
        if (!resumes)
            owner.OnPlanned(hello, isFull);
        (int lanes, ulong seed) = owner.Layout;
        var plan = new PlanFrame
        {
            IsFull = isFull, Resumes = resumes, At = at, Term = owner.Term, Lanes = lanes, HashSeed = seed, StartedUnixUs = startedUnixUs,
            Fork = owner.ForkOf(hello.Position), HistoryId = owner.HistoryId, Path = owner.Path, Terms = owner.TermStarts,
        };
        _to!.Add(FrameKind.Plan, plan.Encode());
    }
}
