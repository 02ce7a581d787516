using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// The due entries of a part of a collection, to be removed: all of a packed one; some chunks of a large hash, by a cursor; of a large
/// sorted set, which keeps its times in order, the first so many; or some members alone.
/// </summary>
public unsafe struct DueEntries : IExamine
{
    private const int EntriesPerVisit = 1000;
    private const long AgainMs = 1000; // there was no memory for it
    // Of a tier, under the lock: where it is known which, side by side, else one after the other; on a slow disk it ends with what takes so long.
    private const int PiecesPerVisit = 32, ReadsPerVisit = 8;
    private const long WaitPerVisitUs = 2_000;
    // Most bytes that one removal writes to the log, unless a single name is longer: half of the least that aof-step-max-size can be set
    // to, so that a removal of many entries is never refused as too long.
    private const int BytesPerRemoval = 1 << 20;

    [ThreadStatic]
    private static RecordKind? _removingFrom;

    /// <summary>The kind of collection that this thread removes due entries from at this moment: such a change is one beside the command that runs.</summary>
    public static RecordKind? RemovingFrom => _removingFrom;

    private DueVisit _visit;
    private RecordKind _kind;
    private SessionTier? _tier;
    private long _readsEnd, _waitEndUs;
    private ByteQueue _names;
    private Operands _pairs;
    private bool _isCut; // there is more than one removal takes

    /// <summary>Removes what is due in one part, as an operation for the log.</summary>
    /// <exception cref="GarnetException">The collection as a whole cannot be read.</exception>
    public static void Remove(StoreSession store, in KeyRef key, ref DueVisit visit)
    {
        visit.Seen = 0;
        var due = new DueEntries { _visit = visit };
        due.Remove(store, in key);
        visit = due._visit;
    }

    /// <summary>Removes what is due of members of a sorted set: every second operand.</summary>
    public static void Remove(StoreSession store, in KeyRef key, in Operands pairs) =>
        new DueEntries { _pairs = pairs }.Remove(store, in key);

    private void Remove(StoreSession store, in KeyRef key)
    {
        ulong from = _visit.Cursor;
        do
        {
            _visit.Cursor = from;
            _isCut = false;
        }
        while (RemoveSome(store, in key) == Outcome.Done && _isCut);
    }

    private Outcome RemoveSome(StoreSession store, in KeyRef key)
    {
        Outcome outcome = Outcome.Unchanged;
        try
        {
            store.Lock([key]);
            _tier = store.Tier;
            (_readsEnd, _waitEndUs) = ((_tier?.Begun ?? 0) + ReadsPerVisit, (_tier?.WaitedUs ?? 0) + WaitPerVisitUs);
            if (store.Examine(in key, ref this, quiet: true) != Outcome.Done)
                _visit.Cursor = 0;
            if (_names.Count > 0)
            {
                Operands names = OperandText.Read(_names);
                var remove = new RemoveMembers { Kind = _kind, Keys = names, IsOfDue = true };
                _removingFrom = _kind;
                outcome = store.Edit(in key, ref remove);
                if (outcome != Outcome.Done)
                    _visit.Note(store.NowMs + AgainMs);
            }

            store.Unlock();
            return outcome;
        }
        finally
        {
            _removingFrom = null;
            _names.Free(); // collections.Q1
        }
    }

    public void Look(ref RecordEdit record)
    {
        ulong at = _visit.Cursor;
        _visit.Cursor = 0;
        _kind = record.Kind;
        if (_kind is not (RecordKind.Hash or RecordKind.SortedSet) || !Root.Has(record.Value, RootFlags.Expiring))
            return;
        if (_pairs.Count > 0)
            LookPairs(ref record);
        else if (!Root.IsChunked(record.Value))
            LookPacked(ref record);
        else if (_visit.IsKnown(record.Owner, record.NowMs))
            return;
        else if (_kind == RecordKind.SortedSet)
            LookSorted(ref record);
        else
            LookChunks(ref record, at);
    }

    private void LookPairs(ref RecordEdit record)
    {
        for (Operands.Reader reader = _pairs.Read(); !_isCut && reader.Next();)
        {
            reader.Next();
            if (Members.Find(ref record, EntryForm.Scored, reader.Bytes, reader.Length, out Entry entry))
                Offer(entry, record.NowMs);
        }
    }

    private void LookPacked(ref RecordEdit record)
    {
        EntryForm form = _kind == RecordKind.Hash ? EntryForm.Pair : EntryForm.Scored;
        var walk = default(MemberWalk);
        while (!_isCut && walk.Next(ref record, form))
            Offer(walk.Current, record.NowMs);
    }

    private bool HasReadEnough => _tier is { } tier && (tier.Begun >= _readsEnd || tier.WaitedUs >= _waitEndUs);

    // What a removal will need is looked at here: in the middle of it there is no way back (store.C7).
    private void LookSorted(ref RecordEdit record)
    {
        var walk = default(SortedTimes.DueWalk);
        try
        {
            while (!_isCut && walk.Next(ref record, out Entry entry))
            {
                SortedOrder.Visit(ref record, SortBound.Of(entry.Score, entry.Key, entry.KeyBytes));
                Offer(entry, record.NowMs);
                if (_visit.Seen < EntriesPerVisit && !HasReadEnough)
                    continue;
                _visit.Cursor = 1; // what is removed now is not met again
                return;
            }

            _visit.Note(walk.NextMs);
        }
        catch (GarnetException) when (_visit.PassesOver)
        {
            _visit.Note(record.NowMs + TimedPass.RetryMs);
        }
    }

    private void LookChunks(ref RecordEdit record, ulong at)
    {
        int left = record.MayLack ? PiecesPerVisit : int.MaxValue;
        if (record.MayLack)
            Foresee(ref record, at);
        do
            LookChunk(ref record, MemberWalk.ChunkAt(ref record, at, out at));
        while (at != 0 && _visit.Seen < EntriesPerVisit && !_isCut && --left > 0);
        _visit.Cursor = at;
    }

    private static void Foresee(ref RecordEdit record, ulong at)
    {
        record.BeginForesight();
        for (int i = 0; i < PiecesPerVisit && record.TryForesee(MemberWalk.ChunkAt(ref record, at, out at)) && at != 0; i++)
        {
        }
    }

    // One that cannot be read hides none of the others.
    private void LookChunk(ref RecordEdit record, uint number)
    {
        try
        {
            Page page = ChunkedMembers.Open(ref record, number);
            for (int slot = 0; slot < page.Count && !_isCut; slot++)
                Offer(page.EntryAt(EntryForm.Pair, slot), record.NowMs);
        }
        catch (GarnetException) when (_visit.PassesOver)
        {
            _visit.Note(record.NowMs + TimedPass.RetryMs);
        }
    }

    private void Offer(in Entry entry, long nowMs)
    {
        _visit.Seen++;
        if (!entry.IsDue(nowMs))
        {
            _visit.Note(entry.ExpireAtMs);
            return;
        }

        OperandText.Append(ref _names, entry.KeySpan);
        _isCut = _names.Count >= BytesPerRemoval;
    }
}
