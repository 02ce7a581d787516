namespace Tsavorite;

/// <summary>
/// How many chunks of a value are fetched beside one that is lacked: a walk over all of it would wait for the device at each of them otherwise. Whoever looks here and there gets none.
/// A walk shows itself by lacking, twice, what comes next behind what was fetched last, and gets twice as many each time from then on.
/// </summary>
internal sealed class ChunkAhead
{
    // Twice as many each time, as a walk that is put off is done again from its beginning: so it comes to each chunk a few times, however many there are. What may be on its way is bounded
    // by bytes (ColdReads.MayGatherAhead), and others need not stand behind it (ColdRead.IsAhead). Another command of the client, which may look at a part alone, begins with fewer.
    private const int ChunksFirst = 8, ChunksMax = 1 << 20, Growth = 2, ChunksOfNext = 128;
    private const int PassedTimes = 2, PassedMin = 512; // so many that are there are passed at most to find those

    // A lack is taken for a walk's next if fewer chunks than this lie between it and what was fetched last. Looks at random chunks of a hundred come so close one time in ten, so that two
    // in a row are asked for before anything is fetched ahead.
    private const int GapMax = 8, ShownMin = 2;
    private const int SetShift = 30; // each set of numbers is walked by itself
    private const int WalksMax = 64;
    private readonly Walk[] _walks = new Walk[WalksMax];
    private int _at;
    private long _begun;
    private ulong _toldOwner;
    private uint _told;

    /// <summary>What of those behind the number is looked at at most to find so many.</summary>
    public static uint EndOf(uint number, uint limit, int chunks) =>
        number + Math.Min((uint)Math.Max(PassedMin, PassedTimes * chunks), limit - Math.Min(limit, number & ~RootLimit.Sets));

    /// <summary>The chunk is lacked: so many that follow it are to be fetched with it. To be followed by one of the two that say where that ended.</summary>
    /// <param name="turn">Whose turn it is (<see cref="SessionTier.Turn"/>): several clients go through one collection, each at his own place.</param>
    /// <param name="owner">Whose chunk it is.</param>
    /// <param name="number">Its number.</param>
    public int Begin(long turn, ulong owner, uint number)
    {
        _at = Find(turn >> SessionTier.ClientShift, owner, number >> SetShift);
        ref Walk walk = ref _walks[_at];
        if (turn - walk.Turn is not (0 or 1)) // one that was put off is the next
            walk.Chunks = Math.Min(walk.Chunks, ChunksOfNext);
        (walk.Turn, walk.LackedAt) = (turn, ++_begun);
        bool goesOn = walk.IsOpen || number - walk.Next < GapMax;
        walk.Shown = goesOn ? Math.Min(walk.Shown + 1, ShownMin) : 0;
        walk.Chunks = walk.Shown == ShownMin ? Math.Clamp(walk.Chunks * Growth, ChunksFirst, ChunksMax) : 0;
        return walk.Chunks;
    }

    /// <summary>A walk that has those which are fetched with the chunk lacks that one next.</summary>
    public void End(uint next) => (_walks[_at].Next, _walks[_at].IsOpen) = (next, false);

    /// <summary>What follows is not known yet: whatever the walk lacks next is it.</summary>
    public void EndOpen() => _walks[_at].IsOpen = true;

    /// <summary>What follows the chunk was told by a walk that knows the order.</summary>
    public void Tell(ulong owner, uint number) => (_toldOwner, _told) = (owner, number);

    /// <summary>True if it was; asked again it says no.</summary>
    public bool TakeTold(ulong owner, uint number)
    {
        bool wasTold = _toldOwner == owner && _told == number;
        _toldOwner = 0;
        return wasTold;
    }

    // In the place of the one that has lacked nothing for longest, if there is none.
    private int Find(long client, ulong owner, uint set)
    {
        int oldest = 0;
        for (int i = 0; i < WalksMax; i++)
        {
            if (_walks[i].Owner == owner && _walks[i].Client == client && _walks[i].Set == set)
                return i;
            oldest = _walks[i].LackedAt < _walks[oldest].LackedAt ? i : oldest;
        }
        _walks[oldest] = new Walk { Client = client, Owner = owner, Set = set, Shown = -1 }; // its first lack shows nothing
        return oldest;
    }

    private struct Walk
    {
        public long Client, Turn, LackedAt;
        public ulong Owner;
        public uint Set, Next;
        public int Chunks, Shown;
        public bool IsOpen;
    }
}
