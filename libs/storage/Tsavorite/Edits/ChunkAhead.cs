namespace Tsavorite;

/// <summary>
/// How many chunks of a value are fetched beside one that is lacked: a walk over all of it would wait for the device at each of them otherwise. Whoever looks here and there gets none.
/// A walk shows itself by lacking, twice, what comes next behind what was fetched last, and gets twice as many each time from then on.
/// </summary>
internal sealed class ChunkAhead
{
    /// <summary>
    /// At once; and so many that are there are passed at most to find those. The device has a fourth of them at a time, which is what others wait for; with fewer a walk that is put
    /// off would be done again from its beginning too often.
    /// </summary>
    public const int ChunksMax = 256;
    private const int PassedMax = 2 * ChunksMax;
    private const int ChunksFirst = 8, Growth = 2;

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

    /// <summary>What of those behind the number is looked at at most.</summary>
    public static uint EndOf(uint number, uint limit) => number + Math.Min(PassedMax, limit - Math.Min(limit, number & ~RootLimit.Sets));

    /// <summary>The chunk is lacked: so many that follow it are to be fetched with it. To be followed by one of the two that say where that ended.</summary>
    /// <param name="client">Who lacks it (<see cref="HeldPatience.Client"/>): several go through one collection, each at his own place.</param>
    /// <param name="owner">Whose chunk it is.</param>
    /// <param name="number">Its number.</param>
    public int Begin(long client, ulong owner, uint number)
    {
        _at = Find(client, owner, number >> SetShift);
        ref Walk walk = ref _walks[_at];
        walk.LackedAt = ++_begun;
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
        public long Client, LackedAt;
        public ulong Owner;
        public uint Set, Next;
        public int Chunks, Shown;
        public bool IsOpen;
    }
}
