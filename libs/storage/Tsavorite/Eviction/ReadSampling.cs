using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// Which reads of a session raise the frequency of what they read: one in seven, as a fixed gap is easy to predict, and a prime one does
/// not miss the same keys of a cyclic pattern each time. Over a tier the first read since the demoter's clock came by counts too: what was
/// read at all stays for a round, and what is read often pays for that once a round.
/// </summary>
internal unsafe struct ReadSampling(bool isTiered)
{
    private const int Gap = 7;
    private int _left = Gap;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsDue(ulong word) => --_left <= 0 || ((word & IndexWord.FrequencyMask) == 0 && isTiered);

    // store.U1's single exception: readers raise the two bits by a compare-exchange of the whole word.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Raise(ulong* slot, ulong word)
    {
        if (_left <= 0)
            _left = Gap;
        if (IndexWord.Frequency(word) == 3)
            return;
        StoreTestHooks.Yield(YieldPoint.BeforeFrequency);
        if (StoreTestHooks.Has(PlantedFault.StoreFrequencyBlindly))
            *slot = word + IndexWord.FrequencyOne;
        else
            Interlocked.CompareExchange(ref *slot, word + IndexWord.FrequencyOne, word);
    }
}
