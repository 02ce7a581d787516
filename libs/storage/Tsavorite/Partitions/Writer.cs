using System.Runtime.CompilerServices;
using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>
/// Runs one operation on one key under the partition's lock: look, plan, then change in place, append, touch fields
/// or remove. The path seen most (a value overwritten where it lies) stands first; all else is out of line.
/// A bucket's words and records change only while its sequence is odd (store.U1), and the index word commits (store.U4).
/// A bucket that a running snapshot still wants is saved before its first change (store.U18).
/// Nothing changes in place in a draining segment (store.U13).
/// </summary>
internal sealed unsafe class Writer : IDisposable
{
    private readonly StoreCore _core;
    private readonly Shape* _shape;
    private readonly ChunkScratch _scratch = new();
    private readonly ColdReads? _cold;

    /// <summary>The log's batch that the last change went to.</summary>
    public ulong LastBatch;

    /// <summary>What the value of the next change lies in already, which its record is to be; null for nothing.</summary>
    public StagedValue? Staged;

    /// <summary>Changes that have gone to the log.</summary>
    public long Entries;
    /// <summary>Their bytes in the log.</summary>
    public long LoggedBytes;

    /// <summary>Bytes that the last change lacked, if it was refused for want of memory and has changed nothing.</summary>
    public long LackedBytes => _scratch.LackedBytes;

    public Writer(Store store, ColdReads? cold)
    {
        _core = store.Core;
        _shape = _core.Shape;
        _scratch.Cold = _cold = cold;
        _scratch.Cleaner = store.Movers.Cleaner;
    }

    public Outcome Change<T>(Partition* partition, in KeyRef key, ref T operation, long nowMs) where T : struct, IModify
    {
        byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
        ulong* slot = Bucket.Find(_shape, partition, bucket, key);
        if (slot == null)
            return _cold == null ? Create(partition, key, ref operation, nowMs) : ChangeCold(partition, key, ref operation, nowMs);
        ulong word = *slot;
        byte* record = _shape->Base + IndexWord.Offset(word);
        RecordView existing = Record.View(record, word);
        if (existing.ExpireAtMs != 0 && existing.ExpireAtMs <= nowMs)
        {
            RemoveDue(partition, bucket, slot, key);
            return Create(partition, key, ref operation, nowMs);
        }
        NewRecord next = new()
        {
            Kind = existing.Kind,
            ValueBytes = existing.ValueBytes,
            ExpireAtMs = existing.ExpireAtMs,
            ETag = existing.ETag,
        };
        Verdict verdict = operation.Plan(existing, ref next);
        if (verdict == Verdict.Put && FitsInPlace(partition, record, word, existing, next, out int slackUnits)
            && !StoreCore.IsUnsaved(partition, bucket))
        {
            Bucket.BeginWrite(bucket);
            CleanCopy.Drop(record);
            operation.Write(existing, new Span<byte>(existing.Value, next.ValueBytes), true);
            *(ulong*)(record + 8) = (uint)next.ValueBytes | (ulong)key.Namespace << 32 | (ulong)slackUnits << 56;
            record[4] = (byte)next.Kind;
            Record.WriteFields(record, Record.Flags(record), next);
            Bucket.EndWrite(bucket);
            if (_core.Hooked)
                Announce(partition, key, ref operation, KeyChange.Written);
            return Outcome.Done;
        }
        // Copies: what is passed by address lives in memory, and the path above wants its own in registers (StoreBenchmark).
        Target target = new() { Partition = partition, Bucket = bucket, Slot = slot, Record = record, NowMs = nowMs };
        RecordView view = existing;
        NewRecord wanted = next;
        return ChangeSlow(target, key, ref operation, view, verdict, ref wanted);
    }

    /// <summary>
    /// Runs an edit. <see cref="Outcome.NotFound"/> if it was not run because the namespace was given up since the caller looked it up.
    /// </summary>
    public Outcome Edit<T>(Partition* partition, in KeyRef key, ref T operation, long nowMs) where T : struct, IEdit
    {
        if (_core.CountOf(partition, key.Namespace)->Retired != 0)
            return Outcome.NotFound;
        Unsafe.SkipInit(out RecordEdit edit);
        edit.Begin(_core, partition, _scratch, key, nowMs, EditAim.Change);
        if (edit.Exists && Record.ExpireAtMs(edit.Found) is var expireAtMs && expireAtMs != 0 && expireAtMs <= nowMs)
        {
            RemoveDue(partition, edit.Bucket, edit.Slot, key);
            edit.Begin(_core, partition, _scratch, key, nowMs, EditAim.Change);
        }
        bool existed = edit.Exists, changed = operation.Run(ref edit) && !(T.IsAllOrNothing && edit.OutOfMemory && edit.TryTakeBack());
        if (changed && _core.Hooked)
            Announce(partition, key, ref operation, !existed ? KeyChange.Created : edit.Exists ? KeyChange.Written : KeyChange.Removed);
        if (edit.OutOfMemory && changed)
            _scratch.LackedBytes = 0;
        return edit.OutOfMemory ? edit.Failure : changed ? Outcome.Done : Outcome.Unchanged;
    }

    /// <summary>Shows the live record and its chunks; the word's frequency is the caller's to raise.</summary>
    public ulong* Examine<T>(Partition* partition, in KeyRef key, ref T look, long nowMs) where T : struct, IExamine
    {
        Unsafe.SkipInit(out RecordEdit record);
        record.Begin(_core, partition, _scratch, key, nowMs, EditAim.Look);
        if (!record.Exists)
            return null;
        long expireAtMs = Record.ExpireAtMs(record.Found);
        if (expireAtMs != 0 && expireAtMs <= nowMs)
            return null;
        look.Look(ref record);
        return record.Slot;
    }

    // store.C5: what lies on a tier is in memory before it is changed, unless the change is blind. Nothing is changed, and something is missing, where that has not been fetched.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ChangeCold<T>(Partition* partition, in KeyRef key, ref T operation, long nowMs) where T : struct, IModify
    {
        byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
        ulong* slot;
        byte* image = operation.IsBlind ? _cold!.FindHead(_shape, partition, bucket, key, out slot)
            : _cold!.Find(_shape, partition, bucket, key, out slot);
        if (image == null && _cold is { PassesDamaged: true, HasMissing: false })
            return ChangeDamaged(partition, key, ref operation, nowMs);
        if (image == null)
            return _cold!.HasMissing ? Outcome.Unchanged : Create(partition, key, ref operation, nowMs);
        _cold!.Forget(); // others of the same tag need not be looked at
        Target target = new() { Partition = partition, Bucket = bucket, Slot = slot, Record = image, NowMs = nowMs };
        if (operation.IsBlind)
            return ChangeBlind(target, key, ref operation);
        if (!RecordRoom.MayReturn(_core, partition, image, out long bytes))
        {
            _scratch.LackedBytes = bytes;
            return Outcome.OutOfMemory;
        }
        bool isBack = _core.TakeBack(partition, bucket, slot, image, nowMs, TierCount.Returned) != null;
        return !isBack ? Outcome.OutOfMemory : Change(partition, key, ref operation, nowMs);
    }

    // What removes a cold record, or takes its place whatever it was, needs its head alone, which may be all that was kept of it: nothing comes back for it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ChangeBlind<T>(in Target target, in KeyRef key, ref T operation) where T : struct, IModify
    {
        byte* image = target.Record;
        RecordView existing = Record.View(image, *target.Slot);
        if (existing.ExpireAtMs != 0 && existing.ExpireAtMs <= target.NowMs)
        {
            _core.RemoveColdUnasked(target.Partition, target.Bucket, target.Slot, key, image, KeyChange.Expired);
            CountDeletion(key);
            return Create(target.Partition, key, ref operation, target.NowMs);
        }
        NewRecord next = new() { Kind = existing.Kind, ExpireAtMs = existing.ExpireAtMs, ETag = existing.ETag };
        Verdict verdict = operation.Plan(existing, ref next);
        Check.That(verdict != Verdict.PutFields, "store.C5 what needs the value has it in memory first");
        if (verdict == Verdict.Keep)
            return Outcome.Unchanged;
        return verdict == Verdict.Put ? PutBlind(target, key, ref operation, existing, next) : RemoveBlind(target, key, ref operation);
    }

    private Outcome PutBlind<T>(in Target target, in KeyRef key, ref T operation, in RecordView existing, in NewRecord next)
        where T : struct, IModify
    {
        if (IsTooLarge(key, next))
            return Outcome.TooLarge;
        if (!TryFill(target, key, next, out ulong word))
            return Refuse(key, next);
        operation.Write(existing, new Span<byte>(Record.Value(_shape->Base + IndexWord.Offset(word)), next.ValueBytes), false);
        ColdSwitch.ToMemory(_core, target, key.Namespace, word);
        if (_core.Hooked)
            Announce(target.Partition, key, ref operation, KeyChange.Written);
        return Outcome.Done;
    }

    private Outcome RemoveBlind<T>(in Target target, in KeyRef key, ref T operation) where T : struct, IModify
    {
        if (_core.Hooked)
            Announce(target.Partition, key, ref operation, KeyChange.Removed);
        ColdSwitch.ToNothing(_core, target, key.Namespace);
        return Outcome.Done;
    }

    private bool TryFill(in Target target, in KeyRef key, in NewRecord next, out ulong word)
    {
        byte* record = Staged == null ? null : Staged.TryTake(target.Partition, key, next);
        if (record == null)
            record = _core.Records.Append(target.Partition, Record.Round(Record.BytesFor(key, next)), next, target.NowMs, force: false);
        word = record == null ? 0 : _core.Fill(record, Record.FlagsFor(next), key, next, 0);
        return record != null;
    }

    // store.C11: there is a record, as far as anybody can say, and nobody can say what it holds. What takes its place comes first: nothing is given up for what is refused. The log
    // has the operation alone, and whoever reads it gives up what he finds damaged in the same way.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ChangeDamaged<T>(Partition* partition, in KeyRef key, ref T operation, long nowMs) where T : struct, IModify
    {
        if (FindDamaged(partition, key, out _) == null)
            return Create(partition, key, ref operation, nowMs);
        NewRecord next = new() { Kind = RecordKind.String };
        Verdict verdict = operation.Plan(new RecordView(RecordKind.String, key.Bytes, 0, key.Bytes, key.Length, 0, 0, 0), ref next);
        Outcome outcome = verdict == Verdict.Remove ? Outcome.Done : Create(partition, key, ref operation, nowMs);
        if (outcome != Outcome.Done)
            return outcome;
        if (verdict == Verdict.Remove && _core.Hooked)
            Announce(partition, key, ref operation, KeyChange.Removed);
        for (ulong* slot; (slot = FindDamaged(partition, key, out string where)) != null;)
        {
            _core.RemoveCold(partition, Shape.BucketOf(_shape, partition, key.Hash), slot, key.Namespace);
            _core.Tier!.CountGivenUp(where);
        }
        return Outcome.Done;
    }

    private ulong* FindDamaged(Partition* partition, in KeyRef key, out string where) =>
        _cold!.FindDamaged(_core, partition, Shape.BucketOf(_shape, partition, key.Hash), key, out where);

    // The expiry, if any, must stay as it is; a new one goes the slow way, which also tells the segment. What it says of the capacity and of
    // the slack is RecordRoom.TrySetLength's, for records without an extent, said a second time: here from what Change has in registers
    // already, for the overwrite in place that every SET of an old key is (StoreBenchmark).
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool FitsInPlace(Partition* partition, byte* record, ulong word, in RecordView existing, in NewRecord next, out int slackUnits)
    {
        byte flags = Record.Flags(record);
        int fixedBytes = Record.KeyOffset(flags) + existing.KeyBytes;
        int capacity = Record.Round((long)fixedBytes + existing.ValueBytes) + record[15] * 8;
        long slackBytes = capacity - (((long)fixedBytes + next.ValueBytes + 7) & ~7L);
        slackUnits = (int)(slackBytes >> 3);
        return (ulong)slackBytes <= Record.SlackUnitsMax * 8
            && next.ExpireAtMs == existing.ExpireAtMs
            && (next.ETag == 0 || (flags & Record.ETagFlag) != 0)
            && next.ValueBytes >= 0
            && (flags & (Record.ExtentFlag | Record.OwnerFlag)) == 0
            && (next.Kind == existing.Kind || ((word & IndexWord.InternalBit) == 0 && next.Kind != RecordKind.Chunk))
            && (partition->Draining == 0 || !RecordSpace.IsDraining(_shape, partition, record));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome Create<T>(Partition* partition, in KeyRef key, ref T operation, long nowMs) where T : struct, IModify
    {
        RecordView none = default;
        NewRecord next = new() { Kind = RecordKind.String };
        switch (operation.Plan(none, ref next))
        {
            case Verdict.Keep: return Outcome.Unchanged;
            case Verdict.Put: break;
            default: return Outcome.NotFound;
        }
        long bytes = Record.BytesFor(key, next);
        if (IsTooLarge(key, next))
            return Outcome.TooLarge;
        // The namespace was given up while the caller was on its way: as if written just before that.
        if (_core.CountOf(partition, key.Namespace)->Retired != 0 && !StoreTestHooks.Has(PlantedFault.SkipRetiredCheck))
            return Outcome.Done;
        if (!_core.Index.MakeRoom(partition, key.Hash))
            return Refuse(key, next);
        byte* record = Staged == null ? null : Staged.TryTake(partition, key, next);
        if (record == null)
            record = _core.Records.Append(partition, Record.Round(bytes), next, nowMs, force: false);
        if (record == null)
            return Refuse(key, next);
        ulong word = _core.Fill(record, Record.FlagsFor(next), key, next, 0);
        operation.Write(none, new Span<byte>(Record.Value(record), next.ValueBytes), false);
        byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
        _core.SaveFirst(partition, bucket);
        Bucket.BeginWrite(bucket);
        _core.Index.Insert(partition, bucket, word);
        Bucket.EndWrite(bucket);
        _core.Count(partition, key.Namespace, word, 1);
        if (_core.Hooked)
            Announce(partition, key, ref operation, KeyChange.Created);
        return Outcome.Done;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ChangeSlow<T>(in Target target, in KeyRef key, ref T operation, in RecordView existing, Verdict verdict,
        ref NewRecord next) where T : struct, IModify
    {
        Outcome outcome = Outcome.Done;
        KeyChange change = KeyChange.Written;
        if (verdict != Verdict.Keep)
            _core.SaveFirst(target.Partition, target.Bucket, target.Record);
        switch (verdict)
        {
            case Verdict.Keep:
                return Outcome.Unchanged;
            case Verdict.Remove:
                // The key may be a view of the record itself: the hooks go first.
                if (_core.Hooked)
                    Announce(target.Partition, key, ref operation, KeyChange.Removed);
                _core.Remove(target.Partition, target.Bucket, target.Slot);
                return Outcome.Done;
            case Verdict.PutFields:
                next.ValueBytes = existing.ValueBytes;
                change = next.ExpireAtMs == 0 ? KeyChange.Persisted : KeyChange.Retimed;
                next.Owner = Record.Owner(target.Record);
                outcome = PutFields(target, key, existing, next);
                break;
            default:
                if (IsTooLarge(key, next))
                    return Outcome.TooLarge;
                Orphan* orphan = Record.Owner(target.Record) == next.Owner ? null : Orphan.Of(target.Record);
                ulong header = 0;
                bool stays = Staged == null && Record.HasFields(Record.Flags(target.Record), next)
                    && RecordRoom.TrySetLength(_core, target.Partition, target.Record, next.ValueBytes, out header);
                if (stays)
                    Overwrite(target, key, ref operation, existing, next, header);
                else
                    outcome = Replace(target, key, ref operation, existing, next);
                if (orphan != null)
                    _core.Adopt(target.Partition, orphan, outcome == Outcome.Done);
                break;
        }
        if (outcome == Outcome.Done && _core.Hooked)
            Announce(target.Partition, key, ref operation, change);
        return outcome;
    }

    private Outcome Refuse(in KeyRef key, in NewRecord next, long slackBytes = 0)
    {
        _scratch.LackedBytes = Record.BytesFor(key, next) + slackBytes;
        return Outcome.OutOfMemory;
    }

    private static bool IsTooLarge(in KeyRef key, in NewRecord next) =>
        (uint)next.ValueBytes > Record.ValueBytesMax || (uint)key.Length > Store.KeyBytesMax;

    private void Overwrite<T>(in Target target, in KeyRef key, ref T operation, in RecordView existing, in NewRecord next, ulong header)
        where T : struct, IModify
    {
        Bucket.BeginWrite(target.Bucket);
        operation.Write(existing, new Span<byte>(existing.Value, next.ValueBytes), true);
        *(ulong*)(target.Record + 8) = header;
        StoreFields(target, key, next);
        Bucket.EndWrite(target.Bucket);
    }

    // Kind, expiry and ETag of a record that has the fields; the bucket's sequence is odd.
    private void StoreFields(in Target target, in KeyRef key, in NewRecord next)
    {
        target.Record[4] = (byte)next.Kind;
        Record.WriteFields(target.Record, Record.Flags(target.Record), next);
        _core.Records.NoteExpiry(target.Partition, target.Record, next.ExpireAtMs);
        ulong old = *target.Slot;
        ulong word = (old & (IndexWord.AddressMask | IndexWord.FrequencyMask)) | (IndexWord.Make(old, 0, old & IndexWord.TierMask, next));
        if (word == old || StoreTestHooks.Has(PlantedFault.KeepOldTtlFlag))
            return;
        Volatile.Write(ref *target.Slot, word);
        _core.Count(target.Partition, key.Namespace, old, -1);
        _core.Count(target.Partition, key.Namespace, word, 1);
    }

    private Outcome PutFields(in Target target, in KeyRef key, in RecordView existing, in NewRecord next)
    {
        if (Record.HasFields(Record.Flags(target.Record), next) && !RecordSpace.IsDraining(_shape, target.Partition, target.Record))
        {
            Bucket.BeginWrite(target.Bucket);
            StoreFields(target, key, next);
            Bucket.EndWrite(target.Bucket);
            return Outcome.Done;
        }
        RecordRoom room = new()
        {
            Flags = (byte)(Record.FlagsFor(next) | (Record.Flags(target.Record) & Record.GrownFlag)),
            NowMs = target.NowMs,
        };
        byte* record = room.Append(_core, target.Partition, key, next, out ulong word);
        if (record == null)
            return Refuse(key, next, room.SlackBytes);
        Buffer.MemoryCopy(existing.Value, Record.Value(record), existing.ValueBytes, existing.ValueBytes);
        Switch(target, word);
        return Outcome.Done;
    }

    private Outcome Replace<T>(in Target target, in KeyRef key, ref T operation, in RecordView existing, in NewRecord next)
        where T : struct, IModify
    {
        RecordRoom room = RecordRoom.Behind(target.Record, key.Length, next);
        room.NowMs = target.NowMs;
        ulong word = 0;
        byte* record = Staged == null ? null : Staged.TryTake(target.Partition, key, next);
        if (record != null)
            word = _core.Fill(record, Record.FlagsFor(next), key, next, 0);
        else
            record = room.Append(_core, target.Partition, key, next, out word);
        if (record == null)
            return Refuse(key, next, room.SlackBytes);
        operation.Write(existing, new Span<byte>(Record.Value(record), next.ValueBytes), false);
        Switch(target, word);
        return Outcome.Done;
    }

    private void Switch(in Target target, ulong word) => RecordRoom.Switch(_core, target.Partition, target.Bucket, target.Slot, word);

    // Its deletion is in the log whatever becomes of the change that met it.
    private void RemoveDue(Partition* partition, byte* bucket, ulong* slot, in KeyRef key)
    {
        _core.RemoveUnasked(partition, bucket, slot, key, KeyChange.Expired);
        CountDeletion(key);
    }

    private void CountDeletion(in KeyRef key)
    {
        Entries++;
        LoggedBytes += key.Length + IWriteLog.EntryHeadBytes;
    }

    // store.U7: the log first, then whoever watches keys.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Announce<T>(Partition* partition, in KeyRef key, ref T operation, KeyChange change) where T : struct, ILogged
    {
        if (_core.Logging && _core.LogChange(partition, key, ref operation, out int bytes) is > 0 and var batch)
        {
            LastBatch = batch;
            Entries++;
            LoggedBytes += bytes;
        }
        _core.Observer?.OnChange(key, change);
    }

    /// <inheritdoc/>
    public void Dispose() => _scratch.Dispose();
}
