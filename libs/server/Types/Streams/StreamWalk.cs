using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>Goes through the entries of a stream from one id to another, either way. The stream must not change meanwhile.</summary>
internal unsafe struct StreamWalk
{
    // Backwards a page is read from its front: so many places of it are kept at once.
    private const int KeptMax = 128;

    private StreamId _from;
    private StreamId _to;
    private int _number;
    private int _pages;
    private bool _backwards;
    private StreamEntry _entry;
    private int _kept;
    private fixed int _places[KeptMax];
    private fixed ulong _before[KeptMax * 2];

    /// <summary>The page of the entry that the last step passed.</summary>
    internal StreamPage Page;

    /// <summary>The entry that the last step passed.</summary>
    internal readonly StreamEntry Current => _entry;

    /// <summary>A walk over the entries from one id to another, both included; backwards it begins at the greater one.</summary>
    internal static StreamWalk Between(ref RecordEdit edit, StreamId from, StreamId to, bool backwards = false)
    {
        int pages = StreamForm.Header(ref edit)->Pages;
        var walk = new StreamWalk { _from = from, _to = to, _pages = pages, _backwards = backwards };
        int number = StreamForm.Find(edit.Value, backwards ? to : from);
        walk._number = backwards ? number : Math.Max(number, 0);
        if (from > to || pages == 0 || number < 0 && backwards)
            walk._number = backwards ? -1 : pages;
        else if (backwards)
            walk.KeepLast(ref edit, StreamId.Max);
        else
            walk.Enter(ref edit);
        return walk;
    }

    /// <summary>Passes the next entry that is there.</summary>
    internal bool Next(ref RecordEdit edit) => _backwards ? Previous(ref edit) : Following(ref edit);

    /// <summary>Counts what is left, up to a number; the walk is used up.</summary>
    internal long Count(ref RecordEdit edit, long max)
    {
        long count = 0;
        while (count < max)
        {
            // A page that lies between the ends as a whole need not be gone through.
            if (!_backwards && _number < _pages && _entry.Head == null && StreamForm.Slot(edit.Value, _number)->First >= _from && Page.Last <= _to)
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
        if (_number >= _pages)
            return;
        Page = StreamForm.PageAt(ref edit, _number);
        _entry = Page.Before(StreamForm.Slot(edit.Value, _number)->First);
    }

    private bool Previous(ref RecordEdit edit)
    {
        while (_number >= 0)
        {
            while (_kept > 0)
            {
                _kept--;
                int slot = _kept % KeptMax;
                _entry = new StreamEntry { Id = new StreamId(_before[slot * 2], _before[(slot * 2) + 1]), Next = Page.At + _places[slot] };
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
            int slot = seen++ % KeptMax;
            _places[slot] = (int)(before.Next - Page.At);
            _before[slot * 2] = before.Id.Ms;
            _before[(slot * 2) + 1] = before.Id.Seq;
        }

        _entry = default;
        _kept = Math.Min(seen, KeptMax);
        if (seen > KeptMax)
            Unroll(seen % KeptMax);
    }

    // The oldest place to the front.
    private void Unroll(int oldest)
    {
        fixed (int* places = _places)
        fixed (ulong* before = _before)
        {
            var first = new Span<int>(places, KeptMax);
            var second = new Span<StreamId>(before, KeptMax);
            first[..oldest].Reverse();
            first[oldest..].Reverse();
            first.Reverse();
            second[..oldest].Reverse();
            second[oldest..].Reverse();
            second.Reverse();
        }
    }
}
