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
    // What one removal writes to the log, but for a longer name: no step of many entries is longer than the log may be set to take.
    private const int BytesPerRemoval = 1 << 20;

    [ThreadStatic]
    private static RecordKind? _removingFrom;

    /// <summary>The kind of collection that this thread removes due entries from at this moment: such a change is one beside the command that runs.</summary>
    public static RecordKind? RemovingFrom => _removingFrom;

    /// <summary>Where to begin and, afterwards, where to go on; 0 at the beginning and at the end.</summary>
    public ulong Cursor;
    /// <summary>Entries looked at.</summary>
    public int Seen;
    private RecordKind _kind;
    private ByteQueue _names;
    private Operands _pairs;
    private bool _isCut; // there is more than one removal takes

    /// <summary>Removes what is due in one part, as an operation for the log; returns the number of entries looked at.</summary>
    public static int Remove(StoreSession store, in KeyRef key, ref ulong cursor)
    {
        var due = new DueEntries { Cursor = cursor };
        due.Remove(store, in key);
        cursor = due.Cursor;
        return due.Seen;
    }

    /// <summary>Removes what is due of members of a sorted set: every second operand.</summary>
    public static void Remove(StoreSession store, in KeyRef key, in Operands pairs) => new DueEntries { _pairs = pairs }.Remove(store, in key);

    private void Remove(StoreSession store, in KeyRef key)
    {
        ulong from = Cursor;
        do
        {
            Cursor = from;
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
            if (store.Examine(in key, ref this, quiet: true) != Outcome.Done)
                Cursor = 0;
            if (_names.Count > 0)
            {
                Operands names = OperandText.Read(_names);
                var remove = new RemoveMembers { Kind = _kind, Keys = names };
                _removingFrom = _kind;
                outcome = store.Edit(in key, ref remove);
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
        ulong at = Cursor;
        Cursor = 0;
        _kind = record.Kind;
        if (_kind is not (RecordKind.Hash or RecordKind.SortedSet) || !Root.Has(record.Value, RootFlags.Expiring))
            return;
        if (_pairs.Count > 0)
            LookPairs(ref record);
        else if (!Root.IsChunked(record.Value))
            LookPacked(ref record);
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

    private void LookSorted(ref RecordEdit record)
    {
        for (var walk = default(SortedTimes.DueWalk); !_isCut && walk.Next(ref record, out Entry entry);)
        {
            Offer(entry, record.NowMs);
            if (Seen < EntriesPerVisit)
                continue;
            Cursor = 1; // what is removed now is not met again
            return;
        }
    }

    private void LookChunks(ref RecordEdit record, ulong at)
    {
        do
        {
            Page page = ChunkedMembers.Open(ref record, MemberWalk.ChunkAt(ref record, at, out at));
            for (int slot = 0; slot < page.Count && !_isCut; slot++)
                Offer(page.EntryAt(EntryForm.Pair, slot), record.NowMs);
        }
        while (at != 0 && Seen < EntriesPerVisit && !_isCut);
        Cursor = at;
    }

    private void Offer(in Entry entry, long nowMs)
    {
        Seen++;
        if (!entry.IsDue(nowMs))
            return;
        OperandText.Append(ref _names, entry.KeySpan);
        _isCut = _names.Count >= BytesPerRemoval;
    }
}
