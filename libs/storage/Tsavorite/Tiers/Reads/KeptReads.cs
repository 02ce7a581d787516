using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// What a session's reads have brought: kept for a moment, and as much as may be, for the step that asked for it, which is done again. A record in several segments goes by
/// time alone, and has the longer the more it is to copy: so that its step finds it whatever else comes; who begins such reads sees to it that they are few.
/// </summary>
internal sealed class KeptReads(ColdTier tier, Action<ColdRead> forget)
{
    public const long KeptMs = 100, LongBytesPerMs = 1 << 19;
    private const long BytesOfWaiting = 1 << 20;
    /// <summary>So many times as much is kept at most where others would go before the steps that were put off for them have come back.</summary>
    private const int TimesOfAwaited = 2;
    private const int LooksMax = 256; // at once: more are a walk over all that is kept, at each step
    /// <summary>Of those in persistent memory so many at most, since they cost nothing but their descriptors.</summary>
    public const int PlacedMax = 4096;
    /// <summary>
    /// Of heads, of which a step needs all that it names: so many bytes of one step at most, each with what it takes besides. Twice as much is kept of all steps.
    /// </summary>
    public const long HeadBytesOfStep = 48 << 20;
    private const int BesidesHead = 256;
    private readonly KeptQueue _short = new(), _long = new(), _failed = new(), _placed = new(), _heads = new();

    /// <summary>True if there is anything.</summary>
    public bool HasAny => _short.Count + _long.Count + _failed.Count + _placed.Count + _heads.Count != 0;

    /// <summary>Bytes of records in one segment that one step may need together, beside heads.</summary>
    public long BytesOfStep => tier.KeptBytesMax * TimesOfAwaited;

    /// <summary>The same of the first step that waits: a walk over all of a collection needs it at once.</summary>
    public long BytesOfFirst => tier.HeldBytesMax;

    /// <summary>Of records in several segments, which one step may need together, if they are more than one.</summary>
    public long LongBytesOfStep => tier.LongBytesMax;

    /// <summary>What a head of so many bytes takes.</summary>
    public static long CostOfHead(long bytes) => bytes + BesidesHead;

    /// <summary>Bytes of the records.</summary>
    public long Bytes => ShortBytes + LongBytes;

    /// <summary>Of these, bytes of records in several segments.</summary>
    public long LongBytes { get; private set; }

    /// <summary>Of these, bytes of records in one segment, but for heads.</summary>
    public long ShortBytes { get; private set; }

    private long HeadBytes { get; set; }

    /// <summary>A read has come to its end in a step.</summary>
    public void Add(ColdRead read, long step)
    {
        read.CameIn = step;
        QueueOf(read).Enqueue(read);
        Count(read, 1);
    }

    /// <summary>What has been there for long enough goes, and what is too much.</summary>
    public void GiveUp(long nowMs)
    {
        TrimShort(LooksMax);
        TrimHeads(2 * HeadBytesOfStep);
        foreach (KeptQueue reads in (ReadOnlySpan<KeptQueue>)[_short, _long, _failed, _placed, _heads])
        {
            reads.Stamp(nowMs);
            while (reads.TryPeek(out ColdRead? read) && IsOver(read, nowMs)) Drop(reads);
        }
    }

    /// <summary>
    /// A step of an owner that waits begins. What the one before has fetched may be what this one wants: it may be that one's second try.
    /// </summary>
    public void BeginStep(long step)
    {
        while (Bytes > BytesOfWaiting && Oldest is { } reads && reads.Peek().CameIn < step - 1) Drop(reads);
        TrimHeads(HeadBytesOfStep); // of one step, which names many and comes to one after the other
    }

    /// <summary>
    /// Another command of a script or a transaction begins. What was fetched for all of its commands before it began is no more than the first that waits may keep; what is
    /// beyond that has been waited for in place, and goes: nothing else gives anything up until the end.
    /// </summary>
    public void BeginPart()
    {
        if (ShortBytes > tier.HeldBytesMax)
            TrimShort(_short.Count);
    }

    /// <summary>
    /// Drops the oldest until what is kept is within the limit, but always keeps one: a record larger than the limit would otherwise be read for ever. Those in several
    /// segments are counted by themselves: one alone may be as much as the limit, and would drive out all that the others wait for.
    /// </summary>
    public void Trim()
    {
        TrimShort(LooksMax);
        while (_long.Count > 1 && IsTooMuch(LongBytes, _long.Peek())) Drop(_long);
        TrimPlaced();
    }

    /// <summary>Frees a record of several segments that has been used: only its time would end it otherwise, and the next one could not be read until then.</summary>
    public void GiveUpLong(ColdRead used)
    {
        if (_long.Remove(used))
            LetGo(used);
    }

    /// <summary>Gives up all records.</summary>
    public void Release()
    {
        while (Oldest is { } reads) Drop(reads);
        while (_placed.Count > 0) Drop(_placed);
        while (_heads.Count > 0) Drop(_heads);
    }

    /// <summary>Gives up the first of those that lie in persistent memory where they are too many.</summary>
    public void TrimPlaced()
    {
        for (int looks = _placed.Count; looks > 0 && _placed.Count > PlacedMax; looks--) DropUnlessHeld(_placed);
    }

    /// <summary>What could not be read is tried again.</summary>
    public void ForgetFailed()
    {
        while (_failed.Count > 0) Drop(_failed);
    }

    /// <summary>Gives up everything.</summary>
    public void Dispose()
    {
        Release();
        ForgetFailed();
    }

    private KeptQueue? Oldest => !_short.TryPeek(out ColdRead? first) ? (_long.Count == 0 ? null : _long)
        : _long.TryPeek(out ColdRead? other) && other.CameIn < first.CameIn ? _long : _short;

    private KeptQueue QueueOf(ColdRead read) => read.State == ColdReadState.Failed ? _failed
        : read.IsInPlace ? _placed : read.IsLong ? _long : read.IsAmongHeads ? _heads : _short;

    // While somebody waits for it the rest of what he waits for may come much later. Not so those in several segments: of two who each have what the other's next one has to
    // wait for, one gives up his.
    private static bool IsOver(ColdRead read, long nowMs) => read.IsLong
        ? !read.IsHeld && !Elapsed.IsWithin(nowMs, read.KeptSinceMs, KeptMs + (read.RecordBytes / LongBytesPerMs))
        : read.Awaited == 0 && !Elapsed.IsWithin(nowMs, read.KeptSinceMs, KeptMs);

    // One that is waited for goes to the end: what is behind it may be nobody's any more, and would drive it out in the end.
    private void TrimShort(int looks)
    {
        for (; looks > 0 && _short.Count > 1 && ShortBytes > tier.KeptBytesMax; looks--)
        {
            ColdRead read = _short.Dequeue();
            if (IsTooMuch(ShortBytes, read))
                LetGo(read);
            else
                _short.Enqueue(read);
        }
    }

    private void TrimHeads(long bytesMax)
    {
        for (int looks = _heads.Count; looks > 0 && HeadBytes > bytesMax; looks--) DropUnlessHeld(_heads);
    }

    // Of those in several segments as many are awaited as were begun, which is seen to.
    private bool IsTooMuch(long bytes, ColdRead read) => read.Awaited == 0 ? bytes > tier.KeptBytesMax
        : !read.IsLong && bytes > (read.IsHeld ? tier.HeldBytesMax : BytesOfStep);

    private void Count(ColdRead read, int by)
    {
        if (read.IsAmongHeads)
            HeadBytes += by * CostOfHead(read.RecordBytes);
        else if (read.IsLong)
            LongBytes += by * (long)read.RecordBytes;
        else
        {
            ShortBytes += by * (long)read.RecordBytes;
            tier.CountAtHand(by * (long)read.RecordBytes);
        }
    }

    // What is held goes to the end.
    private void DropUnlessHeld(KeptQueue reads)
    {
        ColdRead first = reads.Dequeue();
        if (first.IsHeld)
            reads.Enqueue(first);
        else
            LetGo(first);
    }

    private void Drop(KeptQueue reads) => LetGo(reads.Dequeue());

    private void LetGo(ColdRead read)
    {
        Count(read, -1);
        if (!read.IsInPlace)
            tier.Heap.Freed(read.RecordBytes);
        forget(read);
    }
}
