using System.Runtime.CompilerServices;
using Garnet.Common;

namespace Tsavorite;

/// <summary>The session's steps where there is a tier: what lies there is fetched before a step needs it, or while it waits.</summary>
public sealed unsafe partial class StoreSession
{
    /// <summary>The way to records on the tier; null where there is none.</summary>
    public SessionTier? Tier { get; }

    internal Outcome ModifyReadable<T>(in KeyRef key, ref T operation) where T : struct, IModify
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        Tier!.FetchFirst(partition, key, NowMs, _heldCount != 0, headDoes: operation.IsBlind);
        while (true)
        {
            bool announced = Enter(partition, key, ref operation);
            _changes++;
            Outcome outcome;
            try
            {
                outcome = _writer.Change(partition, key, ref operation, NowMs);
            }
            catch (GarnetException)
            {
                _changes--; // whether the key is there cannot be read: nothing was changed
                Exit(partition, announced);
                throw;
            }
            _changes++;
            Exit(partition, announced);
            if (!_cold!.HasMissing)
                return Seen(key, outcome);
            _changes -= 2; // the record has left since it was looked for: nothing was changed
            _cold.Fetch();
        }
    }

    // Where there is a tier, or the edit is assured: one that is a step by itself has its partition know so.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome EditSlow<T>(in KeyRef key, ref T operation) where T : struct, IEdit
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        Tier?.FetchFirst(partition, key, NowMs, _heldCount != 0);
        bool announced = Enter(partition, key, ref operation);
        (Claim before, partition->Claim) = (partition->Claim, _held.Claim);
        _changes++;
        Outcome outcome;
        try
        {
            outcome = _writer.Edit(partition, key, ref operation, NowMs);
        }
        catch (Exception e) when (e is ColdMissException or GarnetException)
        {
            _changes--; // nothing was changed (store.C7)
            partition->Claim = before;
            Exit(partition, announced);
            long counted = _changes + 2;
            if (e is GarnetException { What: Store.NoRoomToReturn })
                Room.Miss(_writer.LackedBytes, ref counted); // put off, if it can be
            throw;
        }
        _changes++;
        partition->Claim = before;
        Exit(partition, announced);
        return Seen(key, outcome);
    }

    // The key has no record in memory.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ReadCold<T>(Partition* partition, byte* bucket, in KeyRef key, ref T read, bool quiet,
        ulong sequences) where T : struct, IRead
    {
        if (!Tier!.TryFind(partition, bucket, key, sequences, !T.WantsValue, out ColdFound found))
            return Outcome.Unchanged;
        bool live = found.Image != null && Record.IsLive(found.Image, NowMs);
        if (live)
            read.Look(Record.View(found.Image, found.Word));
        if (!quiet && live)
        {
            Hits++;
            _sampling.Raise(found.Slot, found.Word);
            Tier.Promote(partition, key, found, NowMs);
        }
        else if (!quiet)
            Misses++;
        return live ? Outcome.Done : Outcome.NotFound;
    }

    private bool ReadColdLocked<T>(Partition* partition, byte* bucket, in KeyRef key, ref T read, bool quiet) where T : struct, IRead
    {
        ColdFound found = Tier!.FindLocked(partition, bucket, key, !T.WantsValue);
        if (found.Image == null || !Record.IsLive(found.Image, NowMs))
            return false;
        read.Look(Record.View(found.Image, found.Word));
        if (!quiet)
            Tier.PromoteLocked(partition, bucket, found, NowMs);
        return true;
    }
}
