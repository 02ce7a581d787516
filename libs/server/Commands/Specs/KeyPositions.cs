namespace Garnet.Server.Commands;

/// <summary>
/// Which arguments of a call are keys: the one place that reads a command's <see cref="KeySpec"/>. In the order Redis names them: a
/// counted command's destination, the keys, the destination that an option names. Allocates nothing. Only the first key of a fixed place is
/// known without it: <see cref="CommandEntry.FirstKey"/>, which <see cref="CommandTable"/> takes from the same spec, for what each command
/// pays (prefetch, the hash of a key that a script names).
/// </summary>
internal readonly struct KeyPositions
{
    private readonly int _target, _first, _step, _keys, _store; // 0 for no target, no store

    private KeyPositions(int target, int first, int step, int keys, int store)
    {
        _target = target;
        _first = first;
        _step = step;
        _keys = keys;
        _store = store;
    }

    /// <inheritdoc cref="KeySpec.AtOnceMax"/>
    internal int AtOnceMax { get; private init; }

    /// <inheritdoc cref="KeySpec.HeadsUpTo"/>
    internal bool HeadsDo { get; private init; }

    /// <summary>How many keys there are.</summary>
    internal int Count => _keys + (_target > 0 ? 1 : 0) + (_store > 0 ? 1 : 0);

    /// <summary>How the command uses the key of that index, in Redis's words; the command's name is the argument <paramref name="name"/>.</summary>
    internal string UsageAt(ref Call call, int name, KeySpec keys, int index)
    {
        KeyPlace place = PlaceOf(index);
        if (place == KeyPlace.Target)
            return KeySpec.TargetUsage;
        if (keys.RestUsage.Length > 0 && place == KeyPlace.Rest)
            return keys.RestUsage;
        return keys.UsageOf is { } usageOf ? usageOf(ref call, name) : keys.Usage;
    }

    /// <summary>What the key of that index is among them.</summary>
    internal KeyPlace PlaceOf(int index)
    {
        if ((_target > 0 && index == 0) || (_store > 0 && index == Count - 1))
            return KeyPlace.Target;
        return index == 0 ? KeyPlace.First : KeyPlace.Rest;
    }

    /// <summary>The argument that is the key of that index.</summary>
    internal int this[int index]
    {
        get
        {
            if (_target > 0 && index-- == 0)
                return _target;
            return index < _keys ? _first + (index * _step) : _store;
        }
    }

    /// <summary>The first argument behind the keys and what stands between them; a target or a store does not count.</summary>
    internal int Behind => _first + (_keys * _step);

    /// <summary>That argument alone.</summary>
    internal static KeyPositions Of(int argument) => new(0, argument, 1, 1, 0);

    /// <summary>The keys of the call's own command; false if they cannot be told: it will answer with an error.</summary>
    internal static bool TryOf(ref Call call, KeySpec keys, out KeyPositions positions) =>
        TryOf(ref call, 0, call.Count, keys, out positions);

    /// <summary>The keys of a command of so many arguments whose name is the argument <paramref name="name"/>.</summary>
    internal static bool TryOf(ref Call call, int name, int count, KeySpec keys, out KeyPositions positions)
    {
        positions = default;
        if (keys.StreamsFrom > 0)
            return TryStreams(ref call, name, name + count, keys, out positions);
        if (keys.KeysFrom > 0 && BehindKeys(ref call, name + keys.KeysFrom, name + count) is > 0 and int behind)
            return TryBehindKeys(ref call, name + keys.First, (behind, name + count), keys.AtOnceMax, out positions);
        if (keys.First == 0)
            return false;
        if (!TryNumber(ref call, name, count, keys, out int number))
            return false;
        int store = keys.StoreFrom > 0 ? StoreAt(ref call, name + keys.StoreFrom, name + count, keys.StoresDistances) : 0;
        positions = new KeyPositions(keys.Target > 0 ? name + keys.Target : 0, name + keys.First, keys.Step, number, store)
        {
            HeadsDo = count <= keys.HeadsUpTo,
        };
        int last = Math.Max(keys.First + ((number - 1) * keys.Step), keys.Target);
        return positions.Count > 0 && last < count;
    }

    /// <summary>
    /// The first argument that is the word STREAMS, not the value of an option in front of it; <paramref name="end"/> without one. The one place that knows how
    /// many values the options of XREAD and XREADGROUP have: they read theirs up to there.
    /// </summary>
    internal static int StreamsAt(ref Call call, int from, int end)
    {
        while (from < end && !call.Is(from, "STREAMS"u8))
        {
            bool isValued = call.Is(from, "COUNT"u8) || call.Is(from, "BLOCK"u8) || call.Is(from, "CLAIM"u8);
            from += isValued ? 2 : call.Is(from, "GROUP"u8) ? 3 : 1;
        }

        return Math.Min(from, end);
    }

    private static bool TryNumber(ref Call call, int name, int count, KeySpec keys, out int number)
    {
        int last = keys.Last < 0 ? count + keys.Last : keys.Last;
        number = last < keys.First ? 0 : ((last - keys.First) / keys.Step) + 1;
        if (keys.CountArg == 0)
            return true;
        if (!call.TryInt64(name + keys.CountArg, out long counted) || counted < 1 || counted > (count - keys.First) / keys.Step)
            return false;
        number = (int)counted;
        return true;
    }

    // Before the argument StreamsFrom the word is no such option: the command's own options are missing. An id for each key; an odd one is left out.
    private static bool TryStreams(ref Call call, int name, int end, KeySpec keys, out KeyPositions positions)
    {
        int at = StreamsAt(ref call, name + 1, end);
        while (at < Math.Min(name + keys.StreamsFrom, end))
            at = StreamsAt(ref call, at + 1, end);
        int number = Math.Max(end - at - 1, 0) / 2;
        positions = new KeyPositions(0, at + 1, 1, number, 0);
        return number > 0;
    }

    // 0 without the word, or with nothing behind it. A name or a password of the target may be that word.
    private static int BehindKeys(ref Call call, int from, int end)
    {
        while (from < end && !call.Is(from, "KEYS"u8))
            from += call.Is(from, "AUTH"u8) ? 2 : call.Is(from, "AUTH2"u8) ? 3 : 1;
        return from + 1 < end ? from + 1 : 0;
    }

    // One key and a row of them would be too much: the one must be empty then.
    private static bool TryBehindKeys(ref Call call, int single, (int From, int End) row, int atOnceMax, out KeyPositions positions)
    {
        positions = new KeyPositions(0, row.From, 1, row.End - row.From, 0) { AtOnceMax = atOnceMax };
        return call[single].IsEmpty;
    }

    // The last STORE counts; what other options name is passed over.
    private static int StoreAt(ref Call call, int from, int end, bool distances)
    {
        int found = 0;
        for (int i = from; i + 1 < end; i++)
        {
            if (call.Is(i, "STORE"u8) || (distances && call.Is(i, "STOREDIST"u8)))
                found = ++i;
            else if (call.Is(i, "GET"u8) || call.Is(i, "BY"u8))
                i++;
            else if (call.Is(i, "LIMIT"u8))
                i += 2;
        }

        return found;
    }
}
