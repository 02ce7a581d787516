using System.Runtime.CompilerServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>Goes through a sorted set from a rank on, either way, past those that are hidden. The set must not change meanwhile.</summary>
public unsafe struct SortedWalk
{
    private fixed ushort _offsets[CollectionLimits.PackedEntriesMax];
    private SequencePage _page;
    private byte* _at;
    private PageSpot _spot;
    private int _index;
    private bool _chunked;
    private HiddenRanks _hidden;
    private long _rank;

    public double Score;
    public byte* Member;
    public int MemberBytes;

    public readonly ReadOnlySpan<byte> Span => new(Member, MemberBytes);

    /// <summary>Stands before the element of that rank among those shown, or behind the last one.</summary>
    public void Begin(ref RecordEdit edit, long rank, in HiddenRanks hidden)
    {
        _hidden = hidden;
        _rank = rank = hidden.Among(rank);
        _chunked = Root.IsChunked(edit.Value);
        if (_chunked)
        {
            Stand(ref edit, Sequence.Seek(ref edit, rank));
            return;
        }

        _index = (int)rank;
        int offset = Root.PackedBytes;
        for (int i = 0; i < Root.PackedCount(edit.Value); i++)
        {
            _offsets[i] = (ushort)offset;
            byte* next = Entry.Measure(EntryForm.Scored, edit.Value + offset, edit.Value + edit.ValueBytes, out _, out _, out _);
            offset = next == null ? offset : (int)(next - edit.Value);
        }
    }

    /// <summary>Stands before the first element that does not lie below the bound. In large sets without hidden ones no rank is worked out for it.</summary>
    public void Begin(ref RecordEdit edit, in SortBound bound, in HiddenRanks hidden)
    {
        _chunked = Root.IsChunked(edit.Value);
        if (_chunked && hidden.IsNone)
            Stand(ref edit, SortedOrder.PlaceOf(ref edit, bound));
        else
            Begin(ref edit, SortedForm.CountBelow(ref edit, bound, hidden), hidden);
    }

    public bool Next(ref RecordEdit edit)
    {
        if (_hidden.IsNone)
            return Forth(ref edit);
        while (Forth(ref edit))
        {
            if (!_hidden.Has(_rank++))
                return true;
        }

        return false;
    }

    public bool Previous(ref RecordEdit edit)
    {
        if (_hidden.IsNone)
            return Back(ref edit);
        while (Back(ref edit))
        {
            if (!_hidden.Has(--_rank))
                return true;
        }

        return false;
    }

    private void Stand(ref RecordEdit edit, in SequencePlace place)
    {
        _spot = place.Page;
        _page = Sequence.Open(ref edit, place.Page.Number);
        _at = _page.At + place.Offset;
    }

    private bool Forth(ref RecordEdit edit)
    {
        if (!_chunked)
            return _index < Root.PackedCount(edit.Value) && TakePacked(ref edit, _index++);
        if (_at == _page.End)
        {
            if (!PageDirectory.TryNext(ref edit, ref _spot))
                return false;
            PageDirectory.LookAhead(ref edit, _spot, step: 1);
            _page = Sequence.Open(ref edit, _spot.Number);
            _at = _page.First;
        }

        _at = Take(_at);
        return true;
    }

    private bool Back(ref RecordEdit edit)
    {
        if (!_chunked)
            return _index > 0 && TakePacked(ref edit, --_index);
        if (_at == _page.First)
        {
            if (!PageDirectory.TryPrevious(ref edit, ref _spot))
                return false;
            PageDirectory.LookAhead(ref edit, _spot, step: -1);
            _page = Sequence.Open(ref edit, _spot.Number);
            _at = _page.End;
        }

        _at = SequencePage.Before(_at);
        Take(_at);
        return true;
    }

    private byte* Take(byte* at)
    {
        byte* next = SequencePage.Read(at, out byte* element, out int length);
        Score = Unsafe.ReadUnaligned<double>(element);
        Member = element + 8;
        MemberBytes = length - 8;
        return next;
    }

    private bool TakePacked(ref RecordEdit edit, int index)
    {
        Entry.TryRead(EntryForm.Scored, edit.Value + _offsets[index], edit.Value + edit.ValueBytes, out Entry entry);
        Score = entry.Score;
        Member = entry.Key;
        MemberBytes = entry.KeyBytes;
        return true;
    }
}
