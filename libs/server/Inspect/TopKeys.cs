namespace Garnet.Server.Inspect;

/// <summary>A key, and at least how much of something it has had.</summary>
internal readonly record struct KeyWeight(ulong Hash, byte[] Name, long Weight);

/// <summary>
/// Those keys of a stream that have had most of something, in bounded memory: Space-Saving (Metwally, Agrawal, El Abbadi, "Efficient
/// computation of frequent and top-k elements in data streams", 2005). A new key takes the place of the lightest one and its weight; how much that was
/// is remembered, so that what is told of a key is never more than it has had. No key with more than 1/capacity of all is missed by <see cref="AddTo"/>.
/// By one thread at a time.
/// </summary>
/// <param name="capacity">How many keys are followed.</param>
internal sealed class TopKeys(int capacity)
{
    /// <summary>Bytes of a longer key that are kept.</summary>
    internal const int NameBytesMax = 1024;

    /// <summary>A weight that can be halved many times before it is nothing.</summary>
    internal const long Once = 1 << 20;

    private readonly Dictionary<ulong, int> _slotOf = new(capacity);
    private readonly Slot[] _slots = new Slot[capacity];
    private readonly int[] _heap = new int[capacity]; // slots, the lightest first
    private int _count;

    /// <summary>The key has had so much more; what is not above 0 does not count.</summary>
    /// <param name="hash">Of the key: keys with the same are taken for one.</param>
    /// <param name="key">Its bytes.</param>
    /// <param name="weight">How much.</param>
    internal void Add(ulong hash, ReadOnlySpan<byte> key, long weight)
    {
        if (weight <= 0)
            return;
        if (_slotOf.TryGetValue(hash, out int slot))
        {
            _slots[slot].Weight += weight;
            Sink(_slots[slot].Place);
            return;
        }

        if (_count < _slots.Length)
        {
            slot = _count++;
            _heap[slot] = slot;
            _slots[slot] = new Slot { Hash = hash, Name = Kept(key, []), NameBytes = Shortened(key).Length, Weight = weight, Place = slot };
            _slotOf.Add(hash, slot);
            Rise(slot);
            return;
        }

        slot = _heap[0];
        ref Slot lightest = ref _slots[slot];
        _slotOf.Remove(lightest.Hash);
        _slotOf.Add(hash, slot);
        lightest.Hash = hash;
        lightest.Name = Kept(key, lightest.Name);
        lightest.NameBytes = Shortened(key).Length;
        lightest.Excess = lightest.Weight;
        lightest.Weight += weight;
        Sink(0);
    }

    /// <summary>What all have had so far counts so many times half; the order stays.</summary>
    internal void Halve(int times)
    {
        for (int i = 0; i < _count; i++)
        {
            _slots[i].Weight >>= times;
            _slots[i].Excess >>= times;
        }
    }

    /// <summary>Adds all that are followed; those of whom nothing is certain are left out.</summary>
    internal void AddTo(KeySums sums)
    {
        foreach (ref readonly Slot slot in _slots.AsSpan(0, _count))
        {
            if (slot.Weight > slot.Excess)
                sums.Add(slot.Hash, slot.Name.AsSpan(0, slot.NameBytes), slot.Weight - slot.Excess);
        }
    }

    private static ReadOnlySpan<byte> Shortened(ReadOnlySpan<byte> key) => key[..Math.Min(key.Length, NameBytesMax)];

    // The array of the key before is taken where it is long enough.
    private static byte[] Kept(ReadOnlySpan<byte> key, byte[] room)
    {
        ReadOnlySpan<byte> name = Shortened(key);
        byte[] kept = name.Length <= room.Length ? room : new byte[name.Length];
        name.CopyTo(kept);
        return kept;
    }

    private void Rise(int place)
    {
        for (int above = (place - 1) / 2; place > 0 && WeightAt(place) < WeightAt(above); above = (place - 1) / 2)
        {
            Swap(place, above);
            place = above;
        }
    }

    private void Sink(int place)
    {
        for (int below = (2 * place) + 1; below < _count; below = (2 * place) + 1)
        {
            if (below + 1 < _count && WeightAt(below + 1) < WeightAt(below))
                below++;
            if (WeightAt(place) <= WeightAt(below))
                return;
            Swap(place, below);
            place = below;
        }
    }

    private long WeightAt(int place) => _slots[_heap[place]].Weight;

    private void Swap(int one, int other)
    {
        (_heap[one], _heap[other]) = (_heap[other], _heap[one]);
        _slots[_heap[one]].Place = one;
        _slots[_heap[other]].Place = other;
    }

    private struct Slot
    {
        internal ulong Hash;
        internal byte[] Name;
        internal int NameBytes;
        internal long Weight;
        internal long Excess; // what the key before it had
        internal int Place;
    }
}
