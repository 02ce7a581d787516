using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// Which reads of a session raise the frequency of what they read: one in seven, as a fixed gap is easy to predict, and a prime one does
/// not miss the same keys of a cyclic pattern each time. Over a tier each does, until the word can count no higher: a wrong choice there costs a read of the
/// disk, and what is read often pays for counting only once for each time that the demoter's clock has come by.
/// </summary>
internal unsafe struct ReadSampling(bool isTiered)
{
    private const int Gap = 7;
    private int _left = Gap;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsDue(ulong word) => isTiered ? (word & IndexWord.FrequencyMask) != IndexWord.FrequencyMask : --_left <= 0;

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
