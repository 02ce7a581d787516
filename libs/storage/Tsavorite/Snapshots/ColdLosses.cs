using System.Numerics;
using System.Text;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// What a snapshot names on a tier and cannot be read there, noted by <see cref="NamedSegments"/> while it loads the rest. For whoever makes of such a snapshot one
/// that a server starts on. Of a key that is lost no more is known than what its reference says: its database, and the bits of the hash that an index goes by. These
/// tell which entries of the log change a lost key (<see cref="Skips"/>): they are passed over up to the first that sets the whole value.
/// Used by several threads at once.
/// </summary>
public sealed unsafe class ColdLosses
{
    private readonly Lock _gate = new();
    private readonly SortedDictionary<uint, SegmentLoss> _segments = [];
    private readonly Dictionary<(uint Namespace, ulong Bits), int> _keys = [];
    private readonly HashSet<(uint Namespace, string Key)> _said = [];
    private readonly HashSet<(uint Namespace, ulong Bits)> _settled = [];
    private readonly SortedSet<uint> _others = [];
    private int _shift, _segmentBytes;
    private MediumId _id;

    /// <summary>True if anything is lost.</summary>
    public bool HasAny => _keys.Count + Pieces != 0;

    /// <summary>
    /// Segments that are others than those that are named, whether or not anything in them is lost: a start refuses them, or looks for what lies in them by
    /// the hash of another key.
    /// </summary>
    public IReadOnlyCollection<uint> Others => _others;

    /// <summary>True if a start finds all that is named, and can read it.</summary>
    public bool IsAsNamed => !HasAny && Others.Count == 0;

    /// <summary>References whose records cannot be read, by what they are.</summary>
    public long Keys { get; private set; }

    /// <inheritdoc cref="Keys"/>
    public long Pieces { get; private set; }

    /// <summary>Collections that can be read but for pieces of them, or are not what they must be: gone as a whole.</summary>
    public long Collections { get; private set; }

    /// <summary>Values that the snapshot had and that are lost, whatever the log says of them.</summary>
    public long Values => Keys + Collections;

    /// <summary>By segment, what is lost there.</summary>
    public IReadOnlyCollection<SegmentLoss> Segments => _segments.Values;

    /// <summary>Some of these segments, as people are told of them: by file, and number in it.</summary>
    public string PlacesOf(IEnumerable<uint> numbers) => SegmentPlace.Of(numbers, _segmentBytes, _id);

    /// <summary>Values that were lost and that nothing said behind the snapshot has put anew or removed.</summary>
    public long CountLost(Store store)
    {
        ArgumentNullException.ThrowIfNull(store);
        long lost = 0;
        foreach (((uint Namespace, ulong Bits) name, int count) in _keys)
        {
            if (store.DatabaseOf(name.Namespace) >= 0)
                lost += _settled.Contains(name) ? count - 1 : count;
        }
        return lost;
    }

    /// <summary>
    /// True if a change of the key that a log has must not be made, since it is one of a value that is lost. <paramref name="isWhole"/>: what it leaves does not depend
    /// on what was there.
    /// </summary>
    public bool Skips(StoreSession session, in KeyRef key, bool isWhole)
    {
        ArgumentNullException.ThrowIfNull(session);
        if (_keys.Count == 0)
            return false;
        (uint, ulong) name = (key.Namespace, BitsOf(key.Hash));
        lock (_gate)
        {
            if (!_keys.ContainsKey(name))
                return false;
            (uint, string) exact = (key.Namespace, Encoding.Latin1.GetString(key.Span));
            if (_said.Contains(exact))
                return false;
            if (isWhole)
            {
                _said.Add(exact);
                _settled.Add(name);
                return false;
            }
            Presence presence = default;
            return session.Read(key, ref presence, quiet: true) != Outcome.Done; // another key with the same bits is there
        }
    }

    /// <summary>The table of the snapshot is known: what the bits of a reference are.</summary>
    internal void Begin(ReadOnlySpan<byte> tableHead) =>
        (_shift, _segmentBytes, _id) = (SegmentTable.HashShiftOf(tableHead), SegmentTable.SegmentBytesOf(tableHead),
            SegmentTable.IdOf(tableHead));

    internal void NoteOther(uint number)
    {
        lock (_gate) _others.Add(number);
    }

    /// <summary>True if a reference, the word and what stands above it, is one to a key with that hash.</summary>
    internal bool IsOf(ulong word, uint above, ulong hash) => BitsOf(hash) == BitsOf(word, above);

    /// <summary>A record that is named cannot be read.</summary>
    internal void Lose(in SegmentRow row, ulong word, uint above, uint ns)
    {
        lock (_gate)
        {
            bool isPiece = (word & IndexWord.InternalBit) != 0;
            SegmentLoss before = _segments.GetValueOrDefault(row.Number, new SegmentLoss(row.Number, row.Named, 0));
            _segments[row.Number] = before with { Lost = before.Lost + 1 };
            if (isPiece)
                Pieces++;
            else
            {
                Keys++;
                Note((ns, BitsOf(word, above)));
            }
        }
    }

    /// <summary>A collection goes as a whole.</summary>
    internal void Lose(in KeyRef root)
    {
        lock (_gate)
        {
            Collections++;
            Note((root.Namespace, BitsOf(root.Hash)));
        }
    }

    private void Note((uint, ulong) name) =>
        System.Runtime.InteropServices.CollectionsMarshal.GetValueRefOrAddDefault(_keys, name, out _)++;

    private static ulong BitsOf(ulong word, uint above) =>
        ((ulong)above << IndexWord.TagBits) | word >> IndexWord.TagShift;

    private ulong BitsOf(ulong hash) => hash >> (64 - IndexWord.TagBits - _shift);

    private readonly struct Presence : IRead
    {
        public void Look(in RecordView record)
        {
        }
    }
}
