using System.Runtime.CompilerServices;
using Garnet.Media;

namespace Tsavorite;

/// <summary>The session where there is a tier: what lies there is fetched before a step needs it, or while it waits.</summary>
public sealed unsafe partial class StoreSession
{
    private const int ColdTriesMax = 64;

    /// <summary>
    /// Asked whether the step that runs may be put off, while nothing has been changed: it is left by a <see cref="ColdMissException"/> then. Null, as it is at
    /// first: every step waits for what it needs. The owner then calls <see cref="PollReads"/> now and then.
    /// </summary>
    public Func<bool>? MayPostpone
    {
        get => _cold?.MayPostpone;
        set
        {
            if (_cold != null) _cold.MayPostpone = value;
        }
    }

    /// <summary>Reads of cold records that have not finished.</summary>
    public int PendingReads => _cold?.Pending ?? 0;

    /// <summary>Takes the reads that have finished, and gives up what was fetched some time ago; true if one has finished.</summary>
    public bool PollReads() => _cold is { } cold && cold.Poll(NowMs);

    /// <summary>What the step that was put off last has come to; to be asked about by <see cref="AwaitsReads"/>.</summary>
    public ulong[] TakeWantedReads() => _cold?.TakeWanted() ?? [];

    /// <summary>True while one of them is still on its way.</summary>
    public bool AwaitsReads(ulong[] wanted)
    {
        ArgumentNullException.ThrowIfNull(wanted);
        foreach (ulong word in wanted)
        {
            if (!_cold!.IsDone(word)) return true;
        }
        return false;
    }

    /// <summary>
    /// Begins to fetch the key's record if it lies on the tier; true if it is not at hand yet. For whoever knows the keys of a step before it begins:
    /// they are read side by side.
    /// </summary>
    public bool Foresee(in KeyRef key)
    {
        if (_cold == null) return false;
        try
        {
            return IsMissing(Shape.PartitionOf(_shape, key.Hash), key);
        }
        catch (Garnet.Common.GarnetException)
        {
            return false; // the step itself finds out, and says it
        }
    }

    /// <summary>Hands the reads that <see cref="Foresee"/> has found to the device.</summary>
    public void BeginReads() => _cold?.Begin();

    // Without the lock, so that nobody waits for it while the disk is read. With locks held it is read under them.
    private void FetchFirst(Partition* partition, in KeyRef key)
    {
        _cold!.BeginStep();
        if (_heldCount != 0) return;
        if (_cold.MayPostpone == null && _core.Arena.Used > _core.Arena.Ceiling) _store.MakeRoomNow(NowMs);
        for (int tries = 0; tries < ColdTriesMax && IsMissing(partition, key); tries++) _cold.Fetch();
    }

    // store.C3: pinned, then looked at again.
    private bool IsMissing(Partition* partition, in KeyRef key)
    {
        while (true)
        {
            uint structure = Volatile.Read(ref partition->Structure);
            byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
            uint sequence = Volatile.Read(ref *(uint*)bucket);
            if (((structure | sequence) & 1) != 0) return false; // somebody changes it: the step finds out under the lock
            (int, int) mark = _cold!.Mark;
            bool found = Bucket.Find(_shape, partition, bucket, key) != null || _cold.Find(_shape, partition, bucket, key, out _) != null;
            bool lacks = !found && _cold.Mark != mark;
            Volatile.ReadBarrier();
            bool isTrue = Unmoved(partition, bucket, structure, sequence);
            if (!isTrue || found) _cold.Forget(mark);
            if (isTrue) return lacks;
        }
    }

    // The record has left since it was looked for, or another of the same tag came between.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ModifyAgain<T>(in KeyRef key, ref T operation) where T : struct, IModify
    {
        Changes -= 2; // nothing was changed
        _cold!.Fetch();
        return Modify(key, ref operation);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome EditTiered<T>(in KeyRef key, ref T operation) where T : struct, IEdit
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        FetchFirst(partition, key);
        bool announced = Enter(partition, key, ref operation);
        Changes++;
        Outcome outcome;
        try
        {
            outcome = _writer.Edit(partition, key, ref operation, NowMs);
        }
        catch (ColdMissException)
        {
            Changes--; // nothing was changed
            Exit(partition, announced);
            throw;
        }
        Changes++;
        Exit(partition, announced);
        return Seen(key, outcome);
    }

    // The key has no record in memory.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ReadCold<T>(Partition* partition, byte* bucket, in KeyRef key, ref T read, bool quiet, ulong sequences) where T : struct, IRead
    {
        _cold!.BeginStep();
        byte* image = _cold.Find(_shape, partition, bucket, key, out ulong* slot);
        ulong word = image == null ? 0 : *slot;
        Volatile.ReadBarrier();
        if (!Unmoved(partition, bucket, (uint)(sequences >> 32), (uint)sequences))
        {
            _cold.Forget();
            return Outcome.Unchanged;
        }
        if (image == null && _cold.HasMissing)
        {
            _cold.Fetch();
            return Outcome.Unchanged;
        }
        _cold.Forget();
        bool live = image != null && IsLive(image);
        if (live) read.Look(Record.View(image, word));
        if (quiet) return live ? Outcome.Done : Outcome.NotFound;
        if (!live)
        {
            Misses++;
            return Outcome.NotFound;
        }
        Hits++;
        RaiseFrequency(slot, word);
        if (IndexWord.Frequency(word) + 1 >= _core.Tier!.PromotionThreshold) TryPromote(partition, key, word, image);
        return Outcome.Done;
    }

    private bool ReadColdLocked<T>(Partition* partition, byte* bucket, in KeyRef key, ref T read, bool quiet) where T : struct, IRead
    {
        while (true)
        {
            byte* image = _cold!.Find(_shape, partition, bucket, key, out ulong* slot);
            if (image == null && _cold.HasMissing)
            {
                _cold.Fetch();
                continue;
            }
            _cold.Forget();
            if (image == null || !IsLive(image)) return false;
            read.Look(Record.View(image, *slot));
            if (!quiet) RaiseFrequency(slot, *slot);
            return true;
        }
    }

    private bool IsLive(byte* record)
    {
        long expireAtMs = Record.ExpireAtMs(record);
        return expireAtMs == 0 || expireAtMs > NowMs;
    }

    // What was fetched for the reader is taken: no second read. Whoever has changed the key meanwhile has won (store.C1).
    private void TryPromote(Partition* partition, in KeyRef key, ulong word, byte* image)
    {
        if (!_core.Tier!.Promotes || _core.Arena.Used > _core.Arena.Ceiling - (_core.Arena.Ceiling / 64) || Partition.IsHeld(partition)) return;
        Partition.Enter(partition);
        byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
        ulong* slot = ColdWriter.FindWord(partition, bucket, word);
        if (slot != null && _core.TakeBack(partition, bucket, slot, image, NowMs) != null) _core.Tier.CountPromoted();
        Partition.Exit(partition);
    }
}
