using System.Numerics;

namespace Tsavorite;

/// <summary>A set of numbers below a maximum that gives away its lowest or its highest. A bit for each number, and one for each 64 of them; the caller locks.</summary>
internal sealed unsafe class FreeNumbers
{
    private const int PerWord = 64;
    private readonly ulong* _words, _groups; // a bit of a group: that word has one
    private readonly int _groupCount;

    public FreeNumbers(Arena arena, uint max)
    {
        uint words = (max / PerWord) + 1;
        _groupCount = (int)(words / PerWord) + 1;
        _words = (ulong*)arena.Table((long)_groupCount * PerWord * sizeof(ulong));
        _groups = (ulong*)arena.Table((long)_groupCount * sizeof(ulong));
    }

    public void Add(uint number)
    {
        uint word = number / PerWord;
        _words[word] |= 1UL << (int)(number % PerWord);
        _groups[word / PerWord] |= 1UL << (int)(word % PerWord);
    }

    /// <summary>Takes the lowest out; 0 if there is none.</summary>
    public uint TakeLowest()
    {
        int group = 0;
        while (group < _groupCount && _groups[group] == 0) group++;
        if (group == _groupCount)
            return 0;
        uint word = ((uint)group * PerWord) + (uint)BitOperations.TrailingZeroCount(_groups[group]);
        return Take(word, BitOperations.TrailingZeroCount(_words[word]));
    }

    /// <summary>Takes the highest out; 0 if there is none.</summary>
    public uint TakeHighest()
    {
        int group = _groupCount - 1;
        while (group >= 0 && _groups[group] == 0) group--;
        if (group < 0)
            return 0;
        uint word = ((uint)group * PerWord) + (uint)BitOperations.Log2(_groups[group]);
        return Take(word, BitOperations.Log2(_words[word]));
    }

    private uint Take(uint word, int bit)
    {
        _words[word] &= ~(1UL << bit);
        if (_words[word] == 0)
            _groups[word / PerWord] &= ~(1UL << (int)(word % PerWord));
        return (word * PerWord) + (uint)bit;
    }
}
