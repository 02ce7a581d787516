using Garnet.Media;

namespace Garnet.Aof.Test.Pm;

/// <summary>
/// Persistent memory that knows of each line whether it is dirty (stored), flushed (on its way) or fenced (there). Until it is fenced a
/// power cut may find any aligned eight bytes of a line as they were at the last fence, or as any store since has left them.
/// <see cref="Image(int)"/> gives the memory as it may be found; who chooses is the test.
/// </summary>
internal sealed class PmSim : IPmRange
{
    public const int Line = IPmRange.LineBytes, WordBytes = 8, Words = Line / WordBytes;

    private readonly byte[] _seen, _fenced;
    private readonly SortedDictionary<int, List<(int By, byte[] Bytes)>> _unfenced = [];

    /// <summary>Memory as it is given, all of it there.</summary>
    public PmSim(byte[] content)
    {
        _seen = GC.AllocateUninitializedArray<byte>(content.Length, pinned: true); // who reads where it lies keeps pointers
        content.CopyTo(_seen, 0);
        _fenced = [.. content];
    }

    public long Bytes => _seen.Length;
    public PersistenceDomain Domain { get; init; } = PersistenceDomain.PmAdr;
    /// <summary>False: stores stay in the processor's cache, as if nobody flushed; a fence then says nothing of them.</summary>
    public bool Flushes { get; init; } = true;
    public bool FencesAtOnce { get; init; } = true;
    /// <summary>Which thread stores and fences (media.P2).</summary>
    public int Thread { get; set; }
    /// <summary>Which thread's stores a fence is worth something for, if not of the one that fences.</summary>
    public Func<int, int>? FencesFor { get; init; }
    /// <summary>Called before each store of lines and each fence: the machine may go down there.</summary>
    public Action? OnStep { get; set; }
    /// <summary>The number of the error that a fence ends with; 0 = none.</summary>
    public int Error { get; set; }
    /// <summary>Lines of which a power cut may keep this or that.</summary>
    public IReadOnlyList<int> Unfenced => [.. _unfenced.Keys];

    public void Write(long offset, ReadOnlySpan<byte> lines)
    {
        if ((offset | (long)lines.Length) % Line != 0) throw new InvalidOperationException("broken invariant: media.P1 whole lines");
        OnStep?.Invoke();
        lines.CopyTo(_seen.AsSpan((int)offset));
        for (int at = 0; at < lines.Length; at += Line)
        {
            int line = (int)((offset + at) / Line);
            if (!_unfenced.TryGetValue(line, out List<(int By, byte[] Bytes)>? states)) _unfenced[line] = states = [];
            states.Add((Thread, lines.Slice(at, Line).ToArray()));
        }
    }

    public int Fence()
    {
        OnStep?.Invoke();
        if (Error != 0) return Error;
        if (!Flushes) return 0;
        int thread = FencesFor?.Invoke(Thread) ?? Thread;
        foreach ((int line, List<(int By, byte[] Bytes)> states) in _unfenced.ToArray())
        {
            int last = states.FindLastIndex(state => state.By == thread);
            if (last < 0) continue;
            states[last].Bytes.CopyTo(_fenced, line * Line); // and what stood there before it
            states.RemoveRange(0, last + 1);
            if (states.Count == 0) _unfenced.Remove(line);
        }
        return 0;
    }

    public ReadOnlySpan<byte> At(long offset, int bytes) => _seen.AsSpan((int)offset, bytes);

    /// <summary>The states that a line may be found in, of which there are more as its words are chosen one by one.</summary>
    public int StatesOf(int line) => _unfenced[line].Count;

    /// <summary>The memory as found after a power cut: for each word of an unfenced line, which of its states (0 = that of the last fence).</summary>
    public byte[] Image(Func<int, int, int> stateOf)
    {
        byte[] found = [.. _fenced];
        foreach ((int line, List<(int By, byte[] Bytes)> states) in _unfenced)
        {
            for (int word = 0; word < Words; word++)
            {
                int state = stateOf(line, word);
                if (state > 0) states[state - 1].Bytes.AsSpan(word * WordBytes, WordBytes).CopyTo(found.AsSpan((line * Line) + (word * WordBytes)));
            }
        }
        return found;
    }

    /// <summary>The memory as a power cut that a seed decides leaves it: 0 loses all that is not fenced, 1 keeps all.</summary>
    public byte[] Image(int seed)
    {
        var random = new Random(seed);
        var whole = new Dictionary<int, int>();
        return Image((line, _) =>
        {
            int last = _unfenced[line].Count;
            if (seed < 2) return seed * last;
            // Half of the lines come as a whole or not at all.
            if (!whole.TryGetValue(line, out int state)) whole[line] = state = random.Next(2) == 0 ? -1 : random.Next(last + 1);
            return state >= 0 ? state : random.Next(last + 1);
        });
    }

    /// <summary>A copy as it stands, for a process that was killed: nothing is lost.</summary>
    public PmSim Copy() => new(_seen) { Domain = Domain };

    public void Dispose()
    {
    }
}
