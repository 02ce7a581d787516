using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>Goes through a list from an index on, either way. The list must not change meanwhile.</summary>
public unsafe struct ListWalk
{
    private SequencePage _page;
    private byte* _first;
    private byte* _end;
    private byte* _at;
    private PageSpot _spot;
    private bool _chunked;

    /// <summary>The element that the last step passed.</summary>
    public byte* Bytes;
    public int Length;

    public readonly ReadOnlySpan<byte> Span => new(Bytes, Length);

    /// <summary>A walk that stands before the element with that index, or behind the last one.</summary>
    public static ListWalk From(ref RecordEdit edit, long index)
    {
        var walk = new ListWalk { _chunked = Root.IsChunked(edit.Value) };
        if (walk._chunked)
        {
            SequencePlace place = Sequence.Seek(ref edit, index);
            walk.Enter(ref edit, place.Page);
            walk._at = walk._page.At + place.Offset;
            return walk;
        }

        walk._first = walk._at = edit.Value + Root.PackedBytes;
        walk._end = edit.Value + edit.ValueBytes;
        if (index == Root.PackedCount(edit.Value))
            walk._at = walk._end;
        for (long i = 0; i < index && walk._at != walk._end; i++)
            walk._at = SequencePage.Read(walk._at, out _, out _);
        return walk;
    }

    /// <summary>Passes the next element.</summary>
    public bool Next(ref RecordEdit edit)
    {
        if (_at == _end)
        {
            if (!_chunked || !PageDirectory.TryNext(ref edit, ref _spot))
                return false;
            PageDirectory.LookAhead(ref edit, _spot, step: 1);
            Enter(ref edit, _spot);
            _at = _first;
        }

        _at = SequencePage.Read(_at, out Bytes, out Length);
        return true;
    }

    /// <summary>Passes the element before.</summary>
    public bool Previous(ref RecordEdit edit)
    {
        if (_at == _first)
        {
            if (!_chunked || !PageDirectory.TryPrevious(ref edit, ref _spot))
                return false;
            PageDirectory.LookAhead(ref edit, _spot, step: -1);
            Enter(ref edit, _spot);
            _at = _end;
        }

        _at = SequencePage.Before(_at);
        SequencePage.Read(_at, out Bytes, out Length);
        return true;
    }

    private void Enter(ref RecordEdit edit, in PageSpot spot)
    {
        _spot = spot;
        _page = Sequence.Open(ref edit, spot.Number);
        _first = _page.First;
        _end = _page.End;
    }
}
