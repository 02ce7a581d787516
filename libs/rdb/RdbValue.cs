using Garnet.Common.Bytes;
using Garnet.Common.Faults;
using Garnet.Common.Resp;
using Garnet.Rdb.Streams;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// A value on its way between RDB and the store: its strings one behind the other as <see cref="Operands"/> take them. A hash has
/// a field and its value, a sorted set a score and its member.
/// </summary>
public sealed unsafe class RdbValue : IDisposable
{
    internal const int SliceBytes = 32 * 1024;

    private ByteQueue _text;

    /// <summary>What it is.</summary>
    public RecordKind Kind { get; set; }

    /// <summary>Strings it has.</summary>
    public long Count { get; private set; }

    /// <summary>Version set by the ETag commands; 0 = none.</summary>
    public ulong ETag { get; set; }

    /// <summary>For a hash with fields that expire: each field's time in Unix milliseconds, 0 for never; else null.</summary>
    public List<long>? FieldTimes { get; set; }

    /// <summary>What a stream holds, which has no strings here.</summary>
    internal StreamValue? Stream { get; set; }

    /// <summary>Bytes that it can have: what a few packed bytes unfold to is refused before it takes more memory than there is.</summary>
    public long BytesMax { get; init; } = ByteQueue.BytesMax;

    /// <summary>Bytes of all strings with their lengths.</summary>
    public int Bytes => _text.Count;

    /// <summary>The only string of a <see cref="RecordKind.String"/>.</summary>
    public Arg String { get; private set; }

    /// <summary>Adds a string behind the others.</summary>
    public void Add(Arg text) => Add(new ReadOnlySpan<byte>(text.Bytes, text.Length));

    /// <summary>Adds a string behind the others.</summary>
    public void Add(ReadOnlySpan<byte> text)
    {
        TooLargeException.Above(BytesMax, (long)Bytes + text.Length, "the value");
        OperandText.Append(ref _text, text);
        Count++;
    }

    /// <summary>Adds a score behind the others.</summary>
    public void Add(double score)
    {
        Span<byte> text = stackalloc byte[NumberText.DoubleBytesMax];
        Add(text[..NumberText.WriteDouble(text, score)]);
    }

    /// <summary>Takes the bytes of a string, which must outlive this.</summary>
    public void Hold(Arg text) => String = text;

    /// <summary>Reads the strings in parts that fit into one operation: whole pairs, some tens of kilobytes each.</summary>
    internal bool NextSlice(ref int at, bool pairs, out Operands slice)
    {
        byte* start = _text.Head + at, end = _text.Head + _text.Count, to = start;
        while (to < end && to - start < SliceBytes)
        {
            Skip(ref to, end);
            if (pairs)
                Skip(ref to, end);
        }

        at += (int)(to - start);
        return Operands.TryDecode(new ReadOnlySpan<byte>(start, (int)(to - start)), out slice) && slice.Count > 0;
    }

    /// <summary>All strings.</summary>
    public Operands All()
    {
        Operands all = OperandText.Read(_text);
        return all;
    }

    /// <summary>True if a member or a field stands in it twice.</summary>
    internal bool HasTwins()
    {
        int step = Kind == RecordKind.Set ? 1 : 2, key = Kind == RecordKind.SortedSet ? 1 : 0, number = 0;
        var seen = new HashSet<Arg>((int)Math.Min(Count / step, 1 << 20), TextComparer.Instance);
        for (Operands.Reader reader = All().Read(); reader.Next(); number++)
        {
            if (number % step == key && !seen.Add(new Arg { Bytes = reader.Bytes, Length = reader.Length }))
                return true;
        }

        return false;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _text.Free();
        Stream?.Dispose();
    }

    private static void Skip(ref byte* at, byte* end)
    {
        if (VarInt.TryRead(ref at, end, out uint bytes))
            at += bytes;
    }

    private sealed class TextComparer : IEqualityComparer<Arg>
    {
        internal static readonly TextComparer Instance = new();

        public bool Equals(Arg left, Arg right) => Span(left).SequenceEqual(Span(right));

        public int GetHashCode(Arg text)
        {
            var hash = default(HashCode); // seeded anew by each process: collisions cannot be prepared
            hash.AddBytes(Span(text));
            return hash.ToHashCode();
        }

        private static ReadOnlySpan<byte> Span(Arg text) => new(text.Bytes, text.Length);
    }
}
