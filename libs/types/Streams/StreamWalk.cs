using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Goes through the entries of a stream from one id to another, either way. The stream must not change meanwhile.</summary>
public unsafe struct StreamWalk
{
    private StreamId _from;
    private StreamId _to;
    private int _number;
    private int _pages;
    private StreamEntry _entry;
    // Null forwards.
    private KeptPlaces* _places;
    private int _kept;

    /// <summary>The page of the entry that the last step passed.</summary>
    public StreamPage Page;

    /// <summary>The entry that the last step passed.</summary>
    public readonly StreamEntry Current => _entry;

    /// <summary>A walk over the entries from one id to another, both included.</summary>
    public static StreamWalk Between(ref RecordEdit edit, StreamId from, StreamId to)
    {
        var walk = new StreamWalk { _from = from, _to = to, _pages = StreamForm.Header(ref edit)->Pages };
        walk._number = from > to ? walk._pages : Math.Max(StreamForm.Find(edit.Value, from), 0);
        walk.Enter(ref edit);
        return walk;
    }

    /// <summary>The same, beginning at the greatest id. Copies of it are one walk.</summary>
    public static StreamWalk Backwards(ref RecordEdit edit, StreamId from, StreamId to, KeptPlaces* places)
    {
        var walk = new StreamWalk { _from = from, _to = to, _pages = StreamForm.Header(ref edit)->Pages, _places = places };
        walk._number = from > to || walk._pages == 0 ? -1 : StreamForm.Find(edit.Value, to);
        if (walk._number >= 0)
            walk.KeepLast(ref edit, StreamId.Max);
        return walk;
    }

    /// <summary>Passes the next entry that is there.</summary>
    public bool Next(ref RecordEdit edit) => _places != null ? Previous(ref edit) : Following(ref edit);

    /// <summary>Counts what is left, up to a number; the walk is used up.</summary>
    public long Count(ref RecordEdit edit, long max)
    {
        long count = 0;
        while (count < max)
        {
            // A page that lies between the ends as a whole need not be gone through.
            if (_places == null && _number < _pages && _entry.Head == null && StreamForm.Slot(edit.Value, _number)->First >= _from
                && Page.Last <= _to)
            {
                count += Page.Live;
                _number++;
                Enter(ref edit);
                continue;
            }

            if (!Next(ref edit))
                return count;
            count++;
        }

        return max;
    }

    private bool Following(ref RecordEdit edit)
    {
        while (_number < _pages)
        {
            while (Page.Step(ref _entry))
            {
                if (_entry.Id > _to)
                {
                    _number = _pages;
                    return false;
                }

                if (_entry.Id >= _from && StreamPage.IsLive(_entry))
                    return true;
            }

            _number++;
            Enter(ref edit);
        }

        return false;
    }

    private void Enter(ref RecordEdit edit)
    {
        for (; _number < _pages; _number++)
        {
            Page = StreamForm.PageAt(ref edit, _number);
            if (Page.Last >= _from)
            {
                _entry = Page.Before(StreamForm.Slot(edit.Value, _number)->First);
                return;
            }
        }
    }

    private bool Previous(ref RecordEdit edit)
    {
        while (_number >= 0)
        {
            while (_kept > 0)
            {
                _kept--;
                int slot = _kept % KeptPlaces.Max;
                _entry = new StreamEntry
                {
                    Id = new StreamId(_places->Before[slot * 2], _places->Before[(slot * 2) + 1]),
                    Next = Page.At + _places->Places[slot],
                };
                Page.Step(ref _entry);
                if (_entry.Id < _from)
                {
                    _number = -1;
                    return false;
                }

                return true;
            }

            StreamId first = _entry.Head == null ? StreamId.Min : _entry.Id;
            bool hasMore = _entry.Head != null && first > StreamForm.Slot(edit.Value, _number)->First;
            if (hasMore)
            {
                KeepLast(ref edit, first.Previous);
                if (_kept > 0)
                    continue;
            }

            if (--_number >= 0)
                KeepLast(ref edit, StreamId.Max);
        }

        return false;
    }

    // Keeps the last places of the page, up to an id, whose entries are there.
    private void KeepLast(ref RecordEdit edit, StreamId upTo)
    {
        StreamForm.LookBackwards(ref edit, _number);
        Page = StreamForm.PageAt(ref edit, _number);
        if (upTo > _to)
            upTo = _to;
        _kept = 0;
        int seen = 0;
        StreamEntry entry = Page.Before(StreamForm.Slot(edit.Value, _number)->First);
        for (StreamEntry before = entry; Page.Step(ref entry) && entry.Id <= upTo; before = entry)
        {
            if (!StreamPage.IsLive(entry))
                continue;
            int slot = seen++ % KeptPlaces.Max;
            _places->Places[slot] = (int)(before.Next - Page.At);
            _places->Before[slot * 2] = before.Id.Ms;
            _places->Before[(slot * 2) + 1] = before.Id.Seq;
        }

        _entry = default;
        _kept = Math.Min(seen, KeptPlaces.Max);
        if (seen > KeptPlaces.Max)
            Unroll(seen % KeptPlaces.Max);
    }

    // The oldest place to the front.
    private readonly void Unroll(int oldest)
    {
        var first = new Span<int>(_places->Places, KeptPlaces.Max);
        var second = new Span<StreamId>(_places->Before, KeptPlaces.Max);
        first[..oldest].Reverse();
        first[oldest..].Reverse();
        first.Reverse();
        second[..oldest].Reverse();
        second[oldest..].Reverse();
        second.Reverse();
    }
}
