using System.Runtime.CompilerServices;
using Garnet.Common;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// A session's way to records on the tier: what its owner decides (whether steps wait for reads or are put off) and asks (what is on its way),
/// and what its steps need. Used by the session's thread alone.
/// </summary>
public sealed unsafe partial class SessionTier
{
    private const int TriesMax = 64;
    private readonly Store _store;
    private readonly StoreCore _core;
    private readonly Shape* _shape;

    internal SessionTier(Store store, ColdTier tier, ReaderWake wake)
    {
        _store = store;
        _core = store.Core;
        _shape = _core.Shape;
        Reads = new ColdReads(tier, wake);
    }

    /// <summary>Bits of a turn's number that tell turns of one client from each other.</summary>
    public const int ClientShift = 32;

    /// <summary>
    /// Asked whether the step that runs may be put off, while nothing has been changed: it is left by a <see cref="ColdMissException"/> then. Null, as
    /// it is at first: every step waits for what it needs. The owner then calls <see cref="Poll"/> now and then.
    /// </summary>
    public Func<bool>? MayPostpone
    {
        get => Reads.MayPostpone;
        set => Reads.MayPostpone = value;
    }

    /// <summary>
    /// Asked where a step that <see cref="MayPostpone"/> does not let go waits: tells the turn that runs from others. All that it waits for in vain takes a second; what it
    /// needs then that is not there fails at once. Null, as it is at first: each read has that second. The bits above <see cref="ClientShift"/> tell whose turn it is.
    /// </summary>
    public Func<long>? Turn
    {
        get => Reads.Patience.Turn;
        set => Reads.Patience.Turn = value;
    }

    /// <summary>What tells the record that the step which runs has come to, and that is not there, from others; 0: much is done again for it.</summary>
    public ulong Missing => Reads.Missing;

    /// <summary>The step that runs is that of the turn which has waited for longest: all that it has come to since stays for it.</summary>
    public bool IsFirst => Reads.Waits.IsOfFirst(Reads.Patience.ThisTurn);

    /// <summary>How often steps have waited in place.</summary>
    public long Waited => Reads.Patience.Waits;

    /// <summary>Reads that have not finished.</summary>
    public int Pending => Reads.Pending;

    /// <summary>Reads of keys that were answered from the tier, among those of <see cref="StoreSession.Hits"/>.</summary>
    public long Hits => Reads.Hits;

    /// <summary>Reads that were begun, in all.</summary>
    public long Begun => Reads.Begun;

    /// <summary>Microseconds that steps have waited for reads where they stood, in all.</summary>
    public long WaitedUs => Reads.Patience.WaitedUs;

    /// <summary>True while looks are nobody's reads: they are not counted, and bring nothing back. For walks beside the commands.</summary>
    public bool LooksAside
    {
        get => Reads.LooksAside;
        set => Reads.LooksAside = value;
    }

    /// <summary>True while fetched records are kept, which <see cref="Poll"/> gives up when their time has come.</summary>
    public bool Keeps => Reads.Keeps;

    /// <summary>
    /// True while looks find nothing where a record is damaged, and do not fail: for whoever asks whether all can be read before a step that sets it, whatever it was (store.C11).
    /// </summary>
    public bool PassesDamaged
    {
        get => Reads.PassesDamaged;
        set => Reads.PassesDamaged = value;
    }

    internal ColdReads Reads { get; }

    /// <inheritdoc cref="ColdReads.BeginPart"/>
    internal void BeginPart() => Reads.BeginPart();

    /// <summary>Takes the reads that have finished, and gives up what was fetched some time ago; true if one has finished since the last call.</summary>
    public bool Poll(long nowMs) => Reads.Poll(nowMs);

    /// <summary>What the step that was put off last has come to; to be asked about by <see cref="Awaits"/>.</summary>
    public ColdWait TakeWanted() => Reads.TakeWanted();

    /// <summary>True while one of them is still on its way; once none is, the step is to be done again before the next <see cref="Poll"/>.</summary>
    public bool Awaits(ColdWait wait)
    {
        ArgumentNullException.ThrowIfNull(wait);
        return Reads.Waits.Awaits(wait);
    }

    /// <summary>Nobody waits for it any more.</summary>
    public void GiveUp(ColdWait wait)
    {
        ArgumentNullException.ThrowIfNull(wait);
        Reads.Waits.End(wait);
    }

    /// <summary>
    /// True if the key's record lies on the tier and is not at hand. For whoever knows the keys of a step before it begins: with
    /// <see cref="BeginReads"/> they are read side by side.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="headDoes">The step asks no more of it than whether it is there, and of what kind: its value is not kept.</param>
    public bool Foresee(in KeyRef key, bool headDoes = false)
    {
        using HeadsAsked heads = new(Reads, headDoes);
        try
        {
            return IsMissing(Shape.PartitionOf(_shape, key.Hash), key);
        }
        catch (GarnetException)
        {
            return false; // the step itself finds out, and says it
        }
    }

    /// <summary>What <see cref="Foresee"/> finds from now on is for another step than what it has found before: that is read, and nobody waits for it.</summary>
    public void BeginNamed() => Reads.BeginLeft();

    /// <summary>All that <see cref="Foresee"/> has found until now is what one step names: it needs that together, and what follows is read ahead.</summary>
    public void EndNamed() => Reads.Waits.Named = Reads.Mark.Wanted;

    /// <summary>True if that has found something since reads were begun last.</summary>
    public bool HasMissing => Reads.HasMissing;

    /// <summary>What tells the first of it from others; 0 if there is none.</summary>
    public ulong FirstMissing => Reads.FirstMissing;

    /// <summary>False while so much is being read, or kept, that what is read for steps to come would drive out what was read for others.</summary>
    public bool MayReadAhead => Reads.MayReadAhead;

    /// <summary>Hands the reads that <see cref="Foresee"/> has found to the device.</summary>
    public void BeginReads() => Reads.Begin();

    /// <summary>store.C11: a change that does not ask what is there is made once more where that is damaged; nothing was changed before.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal Outcome Modify<T>(StoreSession session, in KeyRef key, ref T operation) where T : struct, IModify
    {
        try
        {
            return session.ModifyReadable(key, ref operation);
        }
        catch (GarnetException)
        {
            if (!operation.IsBlind || PassesDamaged)
                throw;
        }
        PassesDamaged = true;
        try
        {
            return session.ModifyReadable(key, ref operation);
        }
        finally
        {
            PassesDamaged = false;
        }
    }

    /// <summary>
    /// Before a step over the key: fetches its record without the lock, so that nobody waits for it while the disk is read. With locks held it is
    /// read under them, when the step comes to it.
    /// </summary>
    internal void FetchFirst(Partition* partition, in KeyRef key, long nowMs, bool isHeld, bool isQuiet = false, bool headDoes = false)
    {
        Reads.BeginStep();
        Reads.IsQuiet = isQuiet;
        Reads.ForgetFailed();
        if (isHeld)
            return;
        if (Reads.MayPostpone == null && _core.Arena.Used > _core.Arena.Ceiling)
            _store.MakeRoomNow(nowMs);
        if (Reads.IsUntouched)
            return; // and if something goes there before the step has the lock, it finds out then
        using HeadsAsked heads = new(Reads, headDoes);
        for (int tries = 0; tries < TriesMax && IsMissing(partition, key); tries++)
            Reads.Fetch();
    }

    /// <summary>
    /// Looks for the key without the lock; <paramref name="sequences"/> are those of the structure and the bucket. False: look again, either because something has moved,
    /// or because what was missing has been fetched meanwhile.
    /// </summary>
    internal bool TryFind(Partition* partition, byte* bucket, in KeyRef key, ulong sequences, bool headDoes, out ColdFound found)
    {
        Reads.BeginStep();
        using HeadsAsked heads = new(Reads, headDoes);
        found.Image = Reads.Find(_shape, partition, bucket, key, out found.Slot);
        StoreTestHooks.Yield(YieldPoint.Value);
        found.Word = found.Image == null ? 0 : *found.Slot;
        found.Life = found.Image == null ? 0 : Reads.LifeOf(found.Word);
        Volatile.ReadBarrier();
        bool isTrue = StoreSession.Unmoved(partition, bucket, (uint)(sequences >> 32), (uint)sequences);
        bool lacks = isTrue && found.Image == null && Reads.HasMissing;
        if (lacks)
            Reads.Fetch();
        else
            Reads.Forget();
        return isTrue && !lacks;
    }

    /// <summary>Looks for the key under the partition's lock.</summary>
    internal ColdFound FindLocked(Partition* partition, byte* bucket, in KeyRef key, bool headDoes = false)
    {
        using HeadsAsked heads = new(Reads, headDoes);
        ColdFound found;
        while ((found.Image = Reads.Find(_shape, partition, bucket, key, out found.Slot)) == null && Reads.HasMissing)
            Reads.Fetch();
        Reads.Forget();
        found.Word = found.Image == null ? 0 : *found.Slot;
        found.Life = 0; // not asked for under the lock
        return found;
    }

    /// <summary>
    /// The record was read often enough to come back: what was fetched for the reader is taken, without a second read. Whoever has changed the key
    /// meanwhile has won (store.C1), also where the same word names another record by now (store.C3).
    /// </summary>
    internal void Promote(Partition* partition, in KeyRef key, in ColdFound found, long nowMs)
    {
        ColdTier tier = _core.Tier!;
        Reads.Hits++;
        if (Reads.IsHead(found.Word))
            return; // there is no value to take back: nothing is asked of the gate
        if (!tier.Gate.Admits(found.Word, _core.Arena, ColdRecord.BytesOf(found.Image), Partition.IsHeld(partition)))
            return;
        Partition.Enter(partition);
        byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
        ulong* slot = ColdWriter.FindWord(partition, bucket, found.Word);
        bool isSame = slot != null && tier.IsOfLife(found.Word, found.Life);
        if (!isSame || _core.TakeBack(partition, bucket, slot, found.Image, nowMs, TierCount.Promoted) == null)
            tier.Count(TierCount.Lost);
        Partition.Exit(partition);
    }

    /// <summary>The same under the partition's lock; the word's frequency has not been raised.</summary>
    internal void PromoteLocked(Partition* partition, byte* bucket, in ColdFound found, long nowMs)
    {
        Reads.Hits++;
        if (Reads.IsHead(found.Word) || !_core.IsToBePromoted(found.Slot, found.Image))
            return;
        if (_core.TakeBack(partition, bucket, found.Slot, found.Image, nowMs, TierCount.Promoted) == null)
            _core.Tier!.Count(TierCount.Lost);
    }

    // store.C3: pinned, then looked at again.
    private bool IsMissing(Partition* partition, in KeyRef key)
    {
        while (true)
        {
            uint structure = Volatile.Read(ref partition->Structure);
            byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
            uint sequence = Volatile.Read(ref *(uint*)bucket);
            if (((structure | sequence) & 1) != 0)
                return false; // somebody changes it: the step finds out under the lock
            (int, int) mark = Reads.Mark;
            bool found = Bucket.Find(_shape, partition, bucket, key) != null || Reads.Find(_shape, partition, bucket, key, out _) != null;
            bool lacks = !found && Reads.Mark != mark;
            Volatile.ReadBarrier();
            bool isTrue = StoreSession.Unmoved(partition, bucket, structure, sequence);
            if (!isTrue || found)
                Reads.Forget(mark);
            if (isTrue && !(lacks && Reads.TryPlaceMissing(mark)))
                return lacks;
        }
    }
}
