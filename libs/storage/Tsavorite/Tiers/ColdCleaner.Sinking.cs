using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// From persistent memory to the disk below it: second chance, as from memory. A hand goes round the segments; of the one it comes to, records that somebody has read lose a step of
/// their frequency and stay, the others go on. What is left of a segment then is compacted with others'.
/// </summary>
internal sealed unsafe partial class ColdCleaner
{
    /// <summary>As <see cref="LiveShareMax"/> where there is a disk below: it pays to let records go there before many are moved to win little.</summary>
    private const double LiveShareMaxAbove = 0.5;
    private uint _hand;
    private long _lapMs = long.MinValue;

    /// <summary>
    /// Moves what nobody reads of the next segment to the disk; false if there is none, or nothing of it has moved. The hand goes round once in a rest: whoever is read
    /// has that long to be read again.
    /// </summary>
    public bool Sink(long nowMs)
    {
        ColdSegments memory = _segments.Memory!;
        for (int left = memory.Total; left > 0; left--)
        {
            if (_hand <= memory.Before || _hand >= memory.Last)
            {
                if (Elapsed.IsWithin(nowMs, _lapMs, RestMs))
                    return false;
                (_hand, _lapMs) = (memory.Before, nowMs);
            }
            _hand++;
            ColdSegment* segment = memory[_hand];
            if (segment->State == ColdState.Sealed && Volatile.Read(ref segment->Live) != 0 && GivesRoom(segment, nowMs))
                return Rewrite(_hand, LetSink, nowMs, sinks: true);
        }
        return false;
    }

    private Fate LetSink(nint image, long nowMs) => IsExpired(image, nowMs) ? Fate.Expire : Fate.Sink;

    // True if it was read, and has its second chance.
    private static bool TryKeep(ulong* slot)
    {
        ulong word = Volatile.Read(ref *slot);
        if (IndexWord.Frequency(word) == 0)
            return false;
        Interlocked.CompareExchange(ref *slot, word - IndexWord.FrequencyOne, word); // store.U1: readers raise it meanwhile
        return true;
    }
}
