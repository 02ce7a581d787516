using Garnet.Aof;

namespace Garnet.Replication;

/// <summary>
/// Which terms this log has had, as far as this server, or the primary it follows, has seen them begin or found their beginnings in its
/// log when it started, and with which batch each began: where another history left it. What is not known is not guessed.
/// Nobody grants terms: two servers that were promoted apart may take the same number, and only who began it tells the one from the other
/// (<see cref="OwnerOf"/>). A start takes the next one, a promotion the next multiple of <see cref="Step"/>: so a primary that comes back
/// after another one was promoted has neither its term nor a later one.
/// </summary>
public sealed class Terms
{
    /// <summary>So many of the last terms are remembered; a token of an earlier one is refused.</summary>
    public const int KnownMax = TermStart.KeptMax;

    private const uint Step = 64; // so many starts without a promotion between them before the two could meet

    private readonly Lock _gate = new();
    private readonly List<TermStart> _known = [];

    /// <summary>The term of a server that leads on behind its own log: later than <paramref name="last"/> and than any it was told of.</summary>
    public uint AfterStart(uint last) => Math.Max(last, Latest) + 1;

    /// <summary>The term of a replica that leads in its primary's place: later than <paramref name="last"/> and than any it was told of.</summary>
    public uint AfterPromotion(uint last) => ((Math.Max(last, Latest) / Step) + 1) * Step;

    // A term of which nothing came here is another server's all the same.
    private uint Latest
    {
        get
        {
            lock (_gate)
                return _known.Count == 0 ? 0 : _known[^1].Term;
        }
    }

    /// <summary>A term begins.</summary>
    public void Add(TermStart start)
    {
        lock (_gate)
        {
            if (_known.Count > 0 && _known[^1].Term == start.Term && _known[^1].Owner == 0)
                _known[^1] = _known[^1] with { Owner = start.Owner };
            if (_known.Count > 0 && _known[^1].Term >= start.Term)
                return; // the primary has told of it already
            _known.RemoveAll(known => known.First > start.First); // told of, and never come here: this history went on without them
            _known.Add(start);
            if (_known.Count > KnownMax)
                _known.RemoveAt(0);
        }
    }

    /// <summary>What is known of the terms of this history.</summary>
    public IReadOnlyList<TermStart> Known
    {
        get
        {
            lock (_gate)
                return [.. _known];
        }
    }

    /// <summary>The history is another server's from now on, who knows this of it.</summary>
    public void Take(IReadOnlyList<TermStart> known)
    {
        lock (_gate)
        {
            _known.Clear();
            _known.AddRange(known);
        }
    }

    /// <summary>Who begins the terms of a run of a server.</summary>
    public static uint OwnerBy(string runId) => Math.Max(1, Convert.ToUInt32(runId[..8], 16));

    /// <summary>True if the term was begun by another one than is named, as far as both are known.</summary>
    public bool IsOthers(uint term, uint owner) => owner != 0 && OwnerOf(term) is not 0 and var here && here != owner;

    /// <summary>
    /// What a token is worth where this history stands in the term <paramref name="here"/> behind the batch <paramref name="last"/>. A token of another
    /// history is worth nothing, whatever its numbers.
    /// </summary>
    public TokenState Judge((uint Term, ulong Batch, uint Owner) token, uint here, ulong last, bool isReadable)
    {
        if (IsOthers(token.Term, token.Owner))
            return TokenState.GivenUp;
        if (token.Term > here)
            return TokenState.ToCome;
        if (token.Term < here && token.Batch > 0 && (LastOf(token.Term) is not { } end || token.Batch > end))
            return TokenState.GivenUp;
        return isReadable && last >= token.Batch ? TokenState.Reached : TokenState.ToCome;
    }

    /// <summary>Who began a term of this history; 0 if that is not known.</summary>
    public uint OwnerOf(uint term)
    {
        lock (_gate)
            return _known.Find(start => start.Term == term).Owner;
    }

    /// <summary>The last batch of a term that has ended; null if it is not known which term came next and where.</summary>
    public ulong? LastOf(uint term)
    {
        lock (_gate)
        {
            int next = _known.FindIndex(start => start.Before == term && start.Term > term);
            return next < 0 ? null : _known[next].First - 1;
        }
    }

    /// <summary>
    /// The last batch of the term here; <see cref="ulong.MaxValue"/> if it has not ended or that is not known. Of a term that was never
    /// one of this history, the last batch of the one that went before it.
    /// </summary>
    private ulong EndOf(uint term)
    {
        lock (_gate)
        {
            foreach (TermStart later in _known)
            {
                if (later.Term > term)
                    return later.Before <= term ? later.First - 1 : ulong.MaxValue; // else others came between them
            }
        }

        return ulong.MaxValue;
    }

    /// <summary>The last batch that the position's history shares with one that ends at <paramref name="end"/>; <see cref="ulong.MaxValue"/> = not known.</summary>
    public ulong ForkOf(LogPosition position, LogPosition end)
    {
        if (!position.IsKnown)
            return ulong.MaxValue;
        ulong known = EndOf(position.Term);
        if (known != ulong.MaxValue)
            return Math.Min(known, position.Batch);
        return position.Term == end.Term && position.Batch > end.Batch ? end.Batch : ulong.MaxValue;
    }
}
