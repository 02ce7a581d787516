using System.Runtime.CompilerServices;
using Garnet.Common;

namespace Tsavorite;

/// <summary>
/// A key's record and its chunks while an <see cref="IEdit"/> or <see cref="IExamine"/> runs: under the partition's lock, so that
/// nothing moves but by the edit's own calls. A record with chunks (the root) has an owner number, which is part of each chunk's key,
/// and keeps in its value a number that no chunk's number reaches (<see cref="RootLimit"/>): so the store can remove the chunks of a root that
/// is gone without knowing what they hold, in the background.
/// store.E1: the root's bytes change only between <see cref="Write"/> or <see cref="Create"/> and <see cref="Close()"/>, without any other
/// call in between: readers without the lock see an odd sequence meanwhile (store.U1).
/// store.E2: what a chunk holds is read under the lock only; its bytes may change from <see cref="WriteChunk"/> on.
/// store.E3: a pointer to a value is valid until that value is written or removed through this edit.
/// store.E4: a call that finds no memory returns null and has changed nothing.
/// store.E5: between a look at a chunk and <see cref="OpenAt"/> the edit comes to no other.
/// store.E6: behind <see cref="CleanBehind"/> no pointer to a value is valid.
/// </summary>
public unsafe ref struct RecordEdit
{
    /// <summary>Longest key of a collection in bytes: each of its chunks has it, behind what tells the chunk.</summary>
    public const int KeyBytesMax = Store.KeyBytesMax - ChunkKey.HeadBytes;

    private StoreCore _core;
    private Partition* _partition;
    private ChunkScratch _scratch;
    private KeyRef _key;
    private long _nowMs;
    private byte* _bucket;
    private ulong* _slot;
    private byte* _record;
    private uint _structure;
    private ulong _replacingWord;
    // A small cache of where chunks lie, indexed by a hash of their numbers: an edit looks a chunk up before it changes it, and moves elements
    // between a few of them, so that most look-ups repeat (CollectionCost counts them). A bit of _known says that the place of that index is
    // valid; _at is the index of the last look-up, whose place is filled in whether the chunk was found or not.
    private ChunkPlaces _places;
    private uint _at;
    private uint _known;
    private uint _active; // the segment that was appended to when it was cleaned up last; 0 before
    private EditState _state;
    private bool _mayLack;

    /// <summary>
    /// Looks the key up. No constructor, and nothing is cleared before: that would fill a copy, and reading so many bytes just
    /// written in pieces takes as long as the rest (CollectionCost).
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Begin(StoreCore core, Partition* partition, ChunkScratch scratch, in KeyRef key, long nowMs, EditAim aim)
    {
        Aim = aim;
        _state = scratch.Cold is { IsUntouched: false } ? EditState.Unchanged : EditState.AllHere;
        _mayLack = false;
        _active = 0;
        _core = core;
        _partition = partition;
        _scratch = scratch;
        _key = key;
        _nowMs = nowMs;
        _at = 0;
        ForgetChunks();
        OutOfMemory = false;
        Owner = 0;
        Find();
    }

    /// <summary>True if there is a live record.</summary>
    public readonly bool Exists => _record != null;

    /// <summary>What the record's value is, <see cref="RecordKind.None"/> without one.</summary>
    public readonly RecordKind Kind => _record == null ? RecordKind.None : Record.Kind(_record);

    /// <summary>First byte of the record's value.</summary>
    public readonly byte* Value => Record.Value(_record);

    /// <summary>Length of the record's value.</summary>
    public readonly int ValueBytes => Record.ValueBytes(_record);

    /// <summary>When it expires; 0: never, or there is none.</summary>
    public readonly long ExpireAtMs => _record == null ? 0 : Record.ExpireAtMs(_record);

    /// <summary>Version set by the ETag commands; 0 = none.</summary>
    public readonly ulong ETag => _record == null ? 0 : Record.ETag(_record);

    /// <summary>The clock by which the caller decides what is due.</summary>
    public readonly long NowMs => _nowMs;

    /// <summary>True if parts of the value may lie on a tier.</summary>
    public readonly bool MayLack => _state != EditState.AllHere;

    /// <summary>True once memory ran out, or something was too large; an edit that can do without what it asked for sets it back.</summary>
    public bool OutOfMemory
    {
        readonly get => Failure != Outcome.Done;
        set => Failure = value ? Outcome.OutOfMemory : Outcome.Done;
    }

    /// <summary>What was asked for is larger than a record can be, however much memory there is.</summary>
    public void RefuseSize() => Failure = Outcome.TooLarge;

    internal Outcome Failure { get; private set; }

    /// <summary>Number that no other record with chunks has, 0 before <see cref="TakeOwner"/>. Hard to guess: a seed for hashes.</summary>
    public ulong Owner { get; private set; }

    internal readonly ulong* Slot => _slot;
    internal readonly byte* Bucket => _bucket;
    internal readonly byte* Found => _record;
    internal readonly StoreCore Core => _core;
    internal readonly Partition* Partition => _partition;
    internal readonly KeyRef Key => _key;
    internal readonly ColdReads? Cold => _state == EditState.AllHere ? null : _scratch.Cold;
    internal readonly ChunkAhead Ahead => _scratch.Ahead;
    internal readonly ForeseenChunks Foreseen => _scratch.Foreseen;

    /// <summary>What becomes of what it comes to on a tier.</summary>
    internal EditAim Aim { get; set; }

    // It takes to memory what it comes to, and nothing has to be taken back if it is put off.
    internal readonly bool MayAwait => Aim == EditAim.Change && _state == EditState.Unchanged;

    /// <summary>Makes a record where there is none, with the owner number if one was taken; its value's bytes are to be filled before <see cref="Close()"/>.</summary>
    public byte* Create(RecordKind kind, int valueBytes)
    {
        _state = EditState.AllHere;
        NewRecord next = new() { Kind = kind, ValueBytes = valueBytes, Owner = Owner };
        byte* record = Add(_key, next, force: false);
        if (record == null)
            return null;
        Refresh();
        Tsavorite.Bucket.BeginWrite(_bucket);
        return Record.Value(record);
    }

    /// <summary>
    /// Opens the record's value for changes, with that many bytes: what it held stays, up to the new length. Small records
    /// (<paramref name="force"/>) may take memory beyond the limit, for changes that free more than they take.
    /// </summary>
    public byte* Write(int valueBytes, bool force = false)
    {
        BeginChange(BeforeImages.Root, _record);
        Refresh();
        _core.SaveFirst(_partition, _bucket, _record);
        if (valueBytes == Record.ValueBytes(_record) && Owner == Record.Owner(_record) && !_core.Records.MustMove(_partition, _record))
        {
            Tsavorite.Bucket.BeginWrite(_bucket);
            return Record.Value(_record);
        }
        return Resize(valueBytes, force);
    }

    /// <summary>
    /// Between two entries of a change for which memory was set aside (store.U20), or that takes back to memory what lies on a tier, to remove it there: where little is left,
    /// cleans up behind those before, as what each has replaced or removed would stay to the end, and that is several times what the change brings.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void CleanBehind()
    {
        if ((_partition->Claim == Claim.Promised || _state != EditState.AllHere) && _core.Arena.Tight && _partition->Active[0] != _active)
            CleanHeld();
    }

    /// <summary>Ends what <see cref="Create"/> or <see cref="Write"/> began.</summary>
    public readonly void Close() => Tsavorite.Bucket.EndWrite(_bucket);

    /// <summary>The same, and gives back what lies behind so many bytes of a small record, if there is more.</summary>
    public void Close(int valueBytes)
    {
        if (valueBytes >= Record.ValueBytes(_record))
        {
            Close();
            return;
        }
        bool fits = TrySetLength(_record, valueBytes, out ulong header);
        if (fits)
            *(ulong*)(_record + 8) = header;
        Close();
        if (fits)
            return;
        Garnet.Common.Faults.Check.That(Write(valueBytes, force: true) != null, "store.E4 a small record can be moved");
        Close();
    }

    /// <summary>Removes the record; its chunks are removed in the background.</summary>
    public void Remove()
    {
        _state = EditState.AllHere;
        Refresh();
        _core.Remove(_partition, _bucket, _slot);
        _record = null;
        ForgetChunks();
        Owner = 0;
    }

    /// <summary>Gives the record an owner number; it is kept with the next <see cref="Write"/> or <see cref="Create"/>.</summary>
    public void TakeOwner()
    {
        Owner = _core.NextOwner();
        _state = EditState.AllHere;
        ForgetChunks();
    }

    /// <summary>Takes <see cref="TakeOwner"/> back, before anything was written.</summary>
    public void DropOwner()
    {
        Owner = 0; // of a value without chunks: it stays all new
        ForgetChunks();
    }

    /// <summary>A chunk's bytes, or null. Valid until that chunk is written or removed.</summary>
    public byte* Chunk(uint number, out int bytes)
    {
        byte* record = FindChunk(number);
        bytes = record == null ? 0 : Record.ValueBytes(record);
        return record == null ? null : Record.Value(record);
    }

    /// <summary>
    /// False if the chunk lies on a tier and cannot be read. For what a change may leave out: a page that is joined or divided only to have a better size.
    /// </summary>
    public bool CanRead(uint number)
    {
        if (_state == EditState.AllHere)
            return true;
        _mayLack = true;
        try
        {
            FindChunk(number);
            return true;
        }
        catch (GarnetException)
        {
            return false;
        }
        finally
        {
            _mayLack = false;
        }
    }

    /// <summary>Opens a chunk for changes as long as it is; null if there is none (or no address space to move it).</summary>
    public byte* OpenChunk(uint number, out int bytes)
    {
        byte* record = FindChunk(number);
        bytes = record == null ? 0 : Record.ValueBytes(record);
        return record == null ? null : Open(record, bytes);
    }

    /// <summary>
    /// Opens the chunk that was looked at last; returns where the place in it lies now, null if there is no address space to move it.
    /// </summary>
    public byte* OpenAt(byte* place)
    {
        long offset = place - Record.Value(Last.Record);
        int bytes = Record.ValueBytes(Last.Record);
        Garnet.Common.Faults.Check.That((ulong)offset < (ulong)bytes, "store.E5 the place is in the chunk looked at last");
        byte* value = Open(Last.Record, bytes);
        return value == null ? null : value + offset;
    }

    /// <summary>Opens a chunk for changes with that many bytes, what it held staying up to the new length; makes it if there is none.</summary>
    public byte* WriteChunk(uint number, int bytes, bool force = false)
    {
        byte* record = FindChunk(number);
        BeginChange(number, record);
        if (record == null)
        {
            record = Add(ChunkKeyOf(number), new NewRecord { Kind = RecordKind.Chunk, ValueBytes = bytes }, force);
            return record == null ? null : Record.Value(record);
        }
        _core.SaveFirst(_partition, Last.Bucket, record);
        if (TrySetLength(record, bytes, out ulong header))
        {
            if (*(ulong*)(record + 8) == header)
                return Record.Value(record);
            Tsavorite.Bucket.BeginWrite(Last.Bucket);
            *(ulong*)(record + 8) = header;
            Tsavorite.Bucket.EndWrite(Last.Bucket);
            return Record.Value(record);
        }
        return MoveChunk(record, bytes, force);
    }

    /// <summary>
    /// Makes fresh bytes for a chunk, uninitialised, beside the old ones; <see cref="EndReplace"/>, with no call in between, puts
    /// them in their place.
    /// </summary>
    public byte* BeginReplace(uint number, int bytes, out byte* old)
    {
        byte* record = FindChunk(number);
        BeginChange(number, record);
        old = Record.Value(record);
        _core.SaveFirst(_partition, Last.Bucket, record);
        NewRecord next = new() { Kind = RecordKind.Chunk, ValueBytes = bytes };
        byte* fresh = Append(ChunkKeyOf(number), next, new RecordRoom { Flags = Record.FlagsFor(next) }, out _replacingWord);
        return fresh == null ? null : Record.Value(fresh);
    }

    /// <summary>Ends what <see cref="BeginReplace"/> began; the old bytes are gone.</summary>
    public void EndReplace()
    {
        RecordRoom.Switch(_core, _partition, Last.Bucket, Last.Slot, _replacingWord);
        Last.Record = _core.Shape->Base + IndexWord.Offset(_replacingWord);
    }

    /// <summary>Notes in the root that a chunk of that number is in use.</summary>
    public void RaiseLimit(uint number)
    {
        if (!RootLimit.IsBelow(Value, number))
            return;
        byte* root = Write(ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "store.E4 a root can be moved");
        RootLimit.Raise(root, number);
        Close();
    }

    /// <summary>Notes in the root that no chunk has that number or a higher one.</summary>
    internal void LowerLimit(uint limit)
    {
        if (RootLimit.Of(Value) <= limit)
            return;
        byte* root = Write(ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "store.E4 a root can be moved");
        RootLimit.Lower(root, limit);
        Close();
    }

    /// <summary>Removes a chunk if it is there.</summary>
    public void RemoveChunk(uint number)
    {
        byte* record = FindChunk(number);
        if (record == null)
            return;
        BeginChange(number, record);
        _core.Remove(_partition, Last.Bucket, Last.Slot);
        ForgetChunks(); // words of its bucket may have changed places
    }

    /// <summary>Seeded hash of bytes behind which 16 more can be read; 64 bits, all good.</summary>
    public static ulong Hash(byte* bytes, int length, ulong seed) => KeyHash.Of(bytes, length, seed);

    /// <summary>True if the bytes are the same; behind both 16 more can be read.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool SameBytes(byte* left, byte* right, int length) => Record.SameKey(left, right, length);

    [System.Diagnostics.CodeAnalysis.UnscopedRef]
    private ref ChunkPlace Last => ref _places[(int)(_at % ChunkPlaces.Count)];

    private static NewRecord Fields(byte* record, int valueBytes) => new()
    {
        Kind = Record.Kind(record), ValueBytes = valueBytes, ExpireAtMs = Record.ExpireAtMs(record), ETag = Record.ETag(record),
    };

    private byte* Resize(int valueBytes, bool force)
    {
        NewRecord next = Fields(_record, valueBytes);
        next.Owner = Owner;
        if (Record.HasFields(Record.Flags(_record), next) && TrySetLength(_record, valueBytes, out ulong header))
        {
            Tsavorite.Bucket.BeginWrite(_bucket);
            *(ulong*)(_record + 8) = header;
            Record.WriteFields(_record, Record.Flags(_record), next);
            return Record.Value(_record);
        }
        byte* moved = Move(_key, _bucket, _slot, next, force);
        if (moved == null)
            return null;
        _record = moved;
        Tsavorite.Bucket.BeginWrite(_bucket);
        return Record.Value(_record);
    }

    private void Find()
    {
        _structure = _partition->Structure;
        _bucket = Shape.BucketOf(_core.Shape, _partition, _key.Hash);
        _slot = Tsavorite.Bucket.Find(_core.Shape, _partition, _bucket, _key);
        _record = _slot != null ? _core.Shape->Base + IndexWord.Offset(*_slot) : _state == EditState.AllHere ? null : FindCold();
        if (_record != null)
            Owner = Record.Owner(_record);
    }

    // New chunks may split the index: bucket and slot are looked up again, the record stays where it is.
    private void Refresh()
    {
        if (_structure == _partition->Structure && _slot != null && _core.Shape->Base + IndexWord.Offset(*_slot) == _record)
            return;
        ulong owner = Owner;
        Find();
        Owner = owner;
    }

    internal byte* FindChunk(uint number) => Last.Number == number && Last.Record != null ? Last.Record : FindOtherChunk(number);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte* FindOtherChunk(uint number)
    {
        // Neighbours lie apart, and so do the sets, and the few numbers that one edit of a stream's group goes back and forth between.
        _at = (number ^ (number >> 2) ^ (number >> 28)) % ChunkPlaces.Count;
        ref ChunkPlace last = ref Last;
        uint bit = 1u << (int)_at;
        if ((_known & bit) != 0 && last.Number == number)
            return last.Record;
        last.Number = number;
        last.Hash = ChunkKey.Hash(_core, _key.Hash, Owner, number);
        last.Bucket = Shape.BucketOf(_core.Shape, _partition, last.Hash);
        last.Slot = Tsavorite.Bucket.FindChunk(_core.Shape, _partition, last.Bucket, Owner, number, ChunkKey.InRoot(_key, last.Hash));
        last.Record = last.Slot != null ? _core.Shape->Base + IndexWord.Offset(*last.Slot)
            : _state == EditState.AllHere ? null : FindColdChunk(ref last);
        _known = last.Record == null ? _known & ~bit : _known | bit;
        return last.Record;
    }

    // The root, if it lies on the tier. A look shows what was fetched, where it lies; a change takes it back first (store.C5).
    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte* FindCold()
    {
        ColdReads cold = _scratch.Cold!;
        byte* image;
        while ((image = cold.Find(_core.Shape, _partition, _bucket, _key, out _slot)) == null && cold.HasMissing)
            cold.Fetch(mayThrow: _state == EditState.Unchanged);
        return _scratch.Take(_core, _partition, _bucket, new() { Image = image, Slot = _slot }, Aim, _nowMs);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte* FindColdChunk(ref ChunkPlace place)
    {
        ChunkName name = new(Owner, place.Number, ChunkKey.InRoot(_key, place.Hash));
        ColdReads cold = _scratch.Cold!;
        byte* image;
        place.Record = null; // what cannot be read leaves nothing behind
        _known &= ~(1u << (int)_at);
        try
        {
            bool isPastTaking = _state == EditState.Kept && !_scratch.Before.IsWhole && !_mayLack;
            image = isPastTaking ? this.FindChunkSurely(cold, ref place, name) : null;
            while (!isPastTaking
                && (image = cold.FindChunk(_core.Shape, _partition, place.Bucket, name, out place.Slot)) == null && cold.HasMissing)
            {
                this.LookBehind(cold, place.Number);
                bool isUnchanged = _state == EditState.Unchanged;
                cold.Fetch(mayThrow: isUnchanged || _scratch.Before.IsWhole, takesBackMuch: !isUnchanged && _scratch.Before.IsMuch);
            }
        }
        catch (Exception e) when (_state == EditState.Kept && (e is ColdMissException || (e is GarnetException && !_mayLack)))
        {
            TakeBack();
            throw;
        }
        return _scratch.Take(_core, _partition, place.Bucket, new() { Image = image, Slot = place.Slot }, Aim, _nowMs);
    }

    /// <summary>Reads each chunk that lies on the tier, and keeps none: before a change that cannot be taken back any more goes on (store.C7).</summary>
    internal void ReadAll()
    {
        ColdReads cold = _scratch.Cold!;
        (ChunkPlaces places, uint at, uint known, EditAim aim, bool looksAside) = (_places, _at, _known, Aim, cold.LooksAside);
        (Aim, cold.LooksAside) = (EditAim.Look, true);
        uint sets = RootLimit.SetsOf(Value);
        try
        {
            ForgetChunks();
            for (uint i = 0; Owner != 0 && i < RootLimit.Of(Value) * sets; i++, cold.Trim(), ForgetChunks())
                FindOtherChunk(RootLimit.NumberOf(i % sets, i / sets));
        }
        finally
        {
            (_places, _at, _known, Aim, cold.LooksAside) = (places, at, known, aim, looksAside);
        }
    }

    /// <summary>Memory ran out behind the first change: true if all of it is taken back (<see cref="IEdit.IsAllOrNothing"/>).</summary>
    internal bool TryTakeBack()
    {
        bool mayTake = _state == EditState.Kept && _scratch.Before.IsWhole;
        if (mayTake)
            TakeBack();
        return mayTake;
    }

    // The value is as it was before this edit, which is over.
    private void TakeBack()
    {
        _state = EditState.AllHere; // all that was changed is in memory
        ForgetChunks();
        _scratch.Before.TakeBack(ref this);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CleanHeld()
    {
        bool hasMoved = _scratch.Cleaner is { } cleaner && cleaner.CleanHeld(_partition, _nowMs);
        _active = _partition->Active[0];
        if (!hasMoved)
            return;
        ForgetChunks();
        ulong owner = Owner;
        Find();
        Owner = owner;
    }

    private void ForgetChunks()
    {
        _known = 0;
        Last.Record = null;
    }

    // The key of the chunk looked for last, to be written down. Valid until the next call.
    private KeyRef ChunkKeyOf(uint number) => _scratch.Key(_key, Owner, number, Last.Hash);

    // Before a chunk, or the root, is changed for the first time: what it was is kept if another may lie on the tier (store.C7).
    private void BeginChange(uint number, byte* record)
    {
        if (_state == EditState.AllHere)
            return;
        _scratch.Before.Keep(ref this, number, record, isFirst: _state == EditState.Unchanged);
        _state = EditState.Kept;
    }

    // The chunk found last, as long as it is.
    private byte* Open(byte* record, int bytes)
    {
        BeginChange(Last.Number, record);
        _core.SaveFirst(_partition, Last.Bucket, record);
        return RecordSpace.IsDraining(_core.Shape, _partition, record) ? MoveChunk(record, bytes, force: true) : Record.Value(record);
    }

    // store.U13, or another length; null if there is no room: it is where it was.
    private byte* MoveChunk(byte* record, int bytes, bool force)
    {
        byte* moved = Move(ChunkKeyOf(Last.Number), Last.Bucket, Last.Slot, Fields(record, bytes), force);
        if (moved == null)
            return null;
        Last.Record = moved;
        return Record.Value(moved);
    }

    private readonly bool TrySetLength(byte* record, int valueBytes, out ulong header) =>
        RecordRoom.TrySetLength(_core, _partition, record, valueBytes, out header);

    private byte* Add(in KeyRef key, in NewRecord next, bool force)
    {
        if (key.Length > KeyBytesMax && next.Kind is not (RecordKind.String or RecordKind.Chunk))
        {
            Fail(out _);
            RefuseSize(); // before it has a chunk: a part would be there otherwise
            return null;
        }
        ForgetChunks(); // buckets may be split, which their structure's number does not tell while it is hidden (store.U12)
        _slot = null;
        byte* record = _core.Index.MakeRoom(_partition, key.Hash)
            ? Append(key, next, new RecordRoom { Flags = Record.FlagsFor(next), Force = force }, out ulong word) : Fail(out word);
        if (record == null)
            return null;
        byte* bucket = Shape.BucketOf(_core.Shape, _partition, key.Hash);
        _core.SaveFirst(_partition, bucket);
        Tsavorite.Bucket.BeginWrite(bucket);
        _core.Index.Insert(_partition, bucket, word);
        Tsavorite.Bucket.EndWrite(bucket);
        _core.Count(_partition, key.Namespace, word, 1);
        return record;
    }

    private byte* Move(in KeyRef key, byte* bucket, ulong* slot, in NewRecord next, bool force)
    {
        byte* old = _core.Shape->Base + IndexWord.Offset(*slot);
        RecordRoom room = RecordRoom.Behind(old, key.Length, next);
        room.Force = force;
        byte* record = Append(key, next, room, out ulong word);
        if (record == null)
            return null;
        int kept = Math.Min(Record.ValueBytes(old), next.ValueBytes);
        Buffer.MemoryCopy(Record.Value(old), Record.Value(record), kept, kept);
        RecordRoom.Switch(_core, _partition, bucket, slot, word);
        return record;
    }

    private byte* Append(in KeyRef key, in NewRecord next, RecordRoom room, out ulong word)
    {
        if ((uint)next.ValueBytes > Record.ValueBytesMax || (uint)key.Length > Store.KeyBytesMax)
        {
            Fail(out word);
            RefuseSize();
            return null;
        }
        room.NowMs = _nowMs;
        byte* record = room.Append(_core, _partition, key, next, out word);
        return record == null ? Fail(out word, Record.BytesFor(key, next) + room.SlackBytes) : record;
    }

    private byte* Fail(out ulong word, long lackedBytes = Record.HeaderBytes)
    {
        word = 0;
        _scratch.LackedBytes = lackedBytes;
        OutOfMemory = true;
        return null;
    }
}
