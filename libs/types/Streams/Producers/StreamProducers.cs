using Garnet.Common.Faults;
using Garnet.Types.Collections;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// What producers have sent (XADD IDMP), in chunks of the second set beside those of <see cref="StreamGroups"/>: 15 the state; two maps,
/// by name (directory 19, pages 31 and every twelfth behind) and by age (23, 35 and every twelfth). Made for the first entry under a name
/// or by XCFGSET.
/// streams.H1: both maps hold the same names; under the zero id the map by age holds how many a producer has.
/// streams.H2: what is due counts as gone; it is removed when somebody adds, a little at a time, by the clock that is logged.
/// </summary>
public static unsafe class StreamProducers
{
    // More than one, so that memory of producers that are silent is found faster than others fill it.
    private const int ForgottenPerAdd = 16;
    private const uint State = RootLimit.SecondSet | 15, NumbersMax = RootLimit.SecondSet | 23, PageStep = 12;

    /// <summary>By producer and name: <see cref="ProducedEntry"/>.</summary>
    public static readonly OrderedMap<PendingKey> ByName =
        new(RootLimit.SecondSet | 19, RootLimit.SecondSet | 31, PageStep, ProducedEntry.Bytes);

    /// <summary>By producer and entry: the name; under the zero id how many there are.</summary>
    public static readonly OrderedMap<PendingKey> ByAge =
        new(RootLimit.SecondSet | 23, RootLimit.SecondSet | 35, PageStep, StreamIds.IdBytes);

    /// <summary>What is known of all of them; false if nobody has asked for it.</summary>
    public static bool TryState(ref RecordEdit edit, out ProducersState state)
    {
        byte* at = edit.Chunk(State, out _);
        state = at == null ? default : *(ProducersState*)at;
        return at != null;
    }

    /// <summary>The state to be changed.</summary>
    public static ProducersState* Open(ref RecordEdit edit)
    {
        byte* at = edit.OpenChunk(State, out _);
        Check.That(at != null, "store.E4 a chunk can be moved");
        return (ProducersState*)at;
    }

    /// <summary>Makes the state where there is none; false if there is no memory.</summary>
    public static bool TryBegin(ref RecordEdit edit, ProducerLimits limits)
    {
        byte* at = edit.WriteChunk(State, ProducersState.Bytes);
        if (at == null)
            return false;
        *(ProducersState*)at = new ProducersState { Limits = limits };
        edit.RaiseLimit(NumbersMax);
        return true;
    }

    /// <summary>Takes <see cref="TryBegin"/> back.</summary>
    public static void End(ref RecordEdit edit) => edit.RemoveChunk(State);

    /// <summary>True if state and maps are sound and hold the same (streams.H1). The bytes come from outside.</summary>
    public static bool AreSound(ref RecordEdit edit, ref uint limit)
    {
        byte* at = edit.Chunk(State, out int bytes);
        if (at != null && (bytes < ProducersState.Bytes || !((ProducersState*)at)->Limits.AreValid))
            return false;
        TryState(ref edit, out ProducersState state);
        limit = at == null ? limit : Math.Max(limit, (NumbersMax & ~RootLimit.SecondSet) + 1);
        var names = default(NamesSum);
        var ages = default(AgesSum);
        return ByName.IsSound(ref edit, ref names, ref limit) && ByAge.IsSound(ref edit, ref ages, ref limit) && ages.IsEnded
            && names.Sum == ages.Sum && names.Names == state.Names && ages.Producers == state.Producers;
    }

    private struct NamesSum : IMapVisitor<PendingKey>
    {
        public long Names;
        public ulong Sum;

        public bool Visit(ref RecordEdit edit, in PendingKey key, byte* value)
        {
            Names++;
            StreamId id = ((ProducedEntry*)value)->Id;
            Sum += KeyedSum.Of(KeyedSum.Of(key.Owner, 0, id), 0, key.Id);
            return !id.IsZero;
        }
    }

    // A producer's keys begin with the zero id, which says how many follow.
    private struct AgesSum : IMapVisitor<PendingKey>
    {
        private ulong _producer;
        private long _left;

        public long Producers;
        public ulong Sum;

        public readonly bool IsEnded => _left == 0;

        public bool Visit(ref RecordEdit edit, in PendingKey key, byte* value)
        {
            if (key.Id.IsZero)
            {
                bool hasAll = IsEnded;
                (_producer, _left) = (key.Owner, *(long*)value);
                Producers++;
                return hasAll && _left > 0;
            }

            Sum += KeyedSum.Of(KeyedSum.Of(key.Owner, 0, key.Id), 0, *(StreamId*)value);
            return key.Owner == _producer && --_left >= 0;
        }
    }

    /// <summary>Looks for the entry that a producer has added under a name.</summary>
    public static bool TryFind(ref RecordEdit edit, in ProducedId produced, long nowMs, out StreamId id)
    {
        var found = (ProducedEntry*)(TryState(ref edit, out ProducersState state) ? ByName.Find(ref edit, KeyOf(produced)) : null);
        id = found == null ? default : found->Id;
        return found != null && !IsDue(state, *found, nowMs);
    }

    public static PendingKey KeyOf(in ProducedId produced) => new(produced.Producer, produced.Name);

    /// <summary>Sets limits; what was remembered under others is forgotten. False if there is no memory, or nothing to change.</summary>
    public static bool TrySet(ref RecordEdit edit, ProducerLimits limits)
    {
        if (!TryState(ref edit, out ProducersState state))
            return TryBegin(ref edit, limits);
        if (state.Limits == limits)
            return false;
        ByName.Clear(ref edit);
        ByAge.Clear(ref edit);
        ProducersState* open = Open(ref edit);
        open->Limits = limits;
        open->Producers = open->Names = 0;
        return true;
    }

    /// <summary>Forgets what is due or too much: of one producer, and of the next one in turn.</summary>
    public static void Forget(ref RecordEdit edit, ulong producer, long nowMs)
    {
        ForgetOf(ref edit, producer, nowMs);
        TryState(ref edit, out ProducersState state);
        MapPlace place = ByAge.Seek(ref edit, new PendingKey(state.Next, StreamId.Min));
        bool isOne = ByAge.TryRead(ref edit, ref place, out PendingKey key, out _);
        if (isOne && key.Owner != producer)
            ForgetOf(ref edit, key.Owner, nowMs);
        Open(ref edit)->Next = isOne ? key.Owner + 1 : 0;
    }

    private static void ForgetOf(ref RecordEdit edit, ulong producer, long nowMs)
    {
        TryState(ref edit, out ProducersState state);
        var counted = new PendingKey(producer, StreamId.Min);
        long count = *(long*)ByAge.Find(ref edit, counted), left = count;
        while (left > 0 && count - left < ForgottenPerAdd)
        {
            MapPlace place = ByAge.Seek(ref edit, counted with { Id = counted.Id.Next });
            ByAge.TryRead(ref edit, ref place, out PendingKey oldest, out byte* value);
            var name = new PendingKey(producer, *(StreamId*)value);
            if (left <= state.Limits.Names && !IsDue(state, *(ProducedEntry*)ByName.Find(ref edit, name), nowMs))
                break;
            ByName.TryRemove(ref edit, name);
            ByAge.TryRemove(ref edit, oldest);
            left--;
        }

        if (left == count)
            return;
        if (left == 0)
            ByAge.TryRemove(ref edit, counted);
        else
            *(long*)ByAge.Open(ref edit, counted) = left;
        ProducersState* open = Open(ref edit);
        open->Names -= count - left;
        open->Producers -= left == 0 ? 1 : 0;
    }

    private static bool IsDue(in ProducersState state, in ProducedEntry entry, long nowMs) =>
        nowMs - entry.AddedMs > state.Limits.Seconds * 1000L;
}
