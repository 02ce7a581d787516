using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// What a snapshot that names segments of a tier is loaded by: first its table (<see cref="Add"/>, <see cref="Open"/>), then its references. Where the tier is
/// the store's own and the snapshot this server's, index words are made of the references and no record is read. Where only the tier is, each is read and judged, and stays where
/// it lies; else each is put in as a snapshot's own record would be.
/// Nothing of the file is believed: numbers are looked up in the table, places must lie in their segments, and the heads and last pages of
/// all segments on the medium must be those that are named.
/// </summary>
public sealed unsafe class NamedSegments(Store store)
{
    private const int FaultsToldMax = 3;
    private readonly Dictionary<uint, SegmentRow> _rows = [];
    private readonly HashSet<uint> _strays = [];
    private readonly IMedium? _medium = store.Settings.Tier ?? store.Settings.Named;
    private byte[] _head = [];
    private bool _isForeign, _isAdopted, _isFound, _hasIds;
    private int _shift;
    private string _file = "";
    private SegmentRuns? _runs;
    private Dictionary<uint, (ulong Life, int RecordMax)> _recordMax = [];
    private Dictionary<int, uint>? _namespaces;

    /// <summary>True if the snapshot names any.</summary>
    public bool HasAny => _rows.Count > 0;

    /// <summary>True if what it names is read, as it was not sealed by this server here: a directory that was copied or moved, or whose owner was set anew.</summary>
    public bool IsRead => HasAny && !Believes(BlockOrigin.Own);

    /// <summary>
    /// Where to note what cannot be read, to go on without it; null: it is found out when somebody wants it. Every record is read then, and of segments that are not
    /// those that are named, what shows for itself that it is what was written.
    /// </summary>
    public ColdLosses? Losses { get; init; }

    /// <summary>True if a medium that is too small for what is named is refused; else what lies behind its end is not there.</summary>
    public bool MustFit { get; init; } = true;

    /// <summary>Heads and ends of segments that are damaged: their records show for themselves what they are.</summary>
    public IReadOnlyList<string> Damaged { get; private set; } = [];

    /// <summary>Takes a part of the table; false if it says what cannot be.</summary>
    public bool Add(ReadOnlySpan<byte> block, BlockOrigin origin)
    {
        _isForeign |= origin != BlockOrigin.Own && store.Settings.ValueCheck is not null;
        return SegmentTable.TryRead(block, ref _head, _rows);
    }

    /// <summary>
    /// The table is whole: its segments are the tier's from now on, and kept under the file's name (store.C9). With <paramref name="isLoaded"/>, its references
    /// are loaded next; without, the file is only another way back.
    /// </summary>
    /// <returns>False if the parts of the table do not fit together.</returns>
    /// <exception cref="GarnetException">The tier is not the one that is named.</exception>
    public bool Open(string file, bool isLoaded)
    {
        if (!HasAny)
            return true;
        _runs = SegmentRuns.Of(_rows, SegmentTable.SegmentBytesOf(_head));
        _namespaces = NamespacesOf(_rows);
        if (_runs is null || _namespaces is null)
            return false;
        _file = file;
        _shift = System.Numerics.BitOperations.Log2((uint)SegmentTable.SegmentBytesOf(_head));
        if (Losses is not null)
            FindStrays(file, Losses);
        else if (isLoaded)
            JudgeMedium(file);
        Keep(file, isLoaded);
        bool goesOn = isLoaded && _isFound && SegmentTable.IsOf(_head, store.Core);
        // The hash of a key is of its namespace's id too: without the ids nobody knows which key of the log a lost one was.
        _hasIds = (goesOn || Losses is not null) && store.Namespaces.TryAdopt(_namespaces);
        _isAdopted = goesOn && _hasIds;
        if (_isAdopted && SegmentTable.HasSecret(_head))
            SegmentTable.GoOn(_head, store.Core.Tier!);
        return true;
    }

    // Under which number each database's keys were kept; null if one had two, or two had one, as of no moment of any server.
    private static Dictionary<int, uint>? NamespacesOf(Dictionary<uint, SegmentRow> rows)
    {
        Dictionary<int, uint> namespaces = [];
        foreach (SegmentRow row in rows.Values) namespaces.TryAdd(row.Database, row.Namespace);
        bool areApart = namespaces.Values.Distinct().Count() == namespaces.Count
            && rows.Values.All(row => namespaces[row.Database] == row.Namespace);
        return areApart ? namespaces : null;
    }

    /// <summary>References in a block, -1 if what stands there are none; whether they are of segments that are named is seen when they are loaded.</summary>
    public static int CountReferences(ReadOnlySpan<byte> block)
    {
        if (block.Length % ColdNames.ReferenceBytes != 0)
            return -1;
        for (ReadOnlySpan<byte> rest = block; rest.Length > 0; rest = rest[ColdNames.ReferenceBytes..])
        {
            if ((BinaryPrimitives.ReadUInt64LittleEndian(rest) & (IndexWord.TierMask | IndexWord.FrequencyMask)) != IndexWord.Ssd)
                return -1;
        }
        return block.Length / ColdNames.ReferenceBytes;
    }

    /// <summary>Of the references in a block, those to persistent memory above a disk.</summary>
    public static int CountReferencesToMemory(ReadOnlySpan<byte> block)
    {
        int count = 0;
        for (ReadOnlySpan<byte> rest = block; rest.Length >= ColdNames.ReferenceBytes; rest = rest[ColdNames.ReferenceBytes..])
            count += ColdAddress.Offset(BinaryPrimitives.ReadUInt64LittleEndian(rest)) >= LayeredMedium.MemoryFrom ? 1 : 0;
        return count;
    }

    /// <summary>Of the segments in a block of a table, those in persistent memory above a disk.</summary>
    public static int CountSegmentsInMemory(ReadOnlySpan<byte> block)
    {
        byte[] head = [];
        Dictionary<uint, SegmentRow> rows = [];
        return SegmentTable.TryRead(block, ref head, rows)
            ? rows.Keys.Count(number => (long)number * SegmentTable.SegmentBytesOf(head) >= LayeredMedium.MemoryFrom) : 0;
    }

    /// <summary>The tier that a block of a table is of.</summary>
    public static MediumId TierOf(ReadOnlySpan<byte> block) => SegmentTable.IdOf(block);

    /// <summary>Segments in a block of a table, -1 if it is none.</summary>
    public static int CountSegments(ReadOnlySpan<byte> block)
    {
        byte[] head = [];
        Dictionary<uint, SegmentRow> rows = [];
        return SegmentTable.TryRead(block, ref head, rows) ? rows.Count : -1;
    }

    /// <summary>References in a block, -1 if one of them is not of a segment that is named.</summary>
    public int CountNamed(ReadOnlySpan<byte> block) => CountReferences(block) is >= 0 and var count && AreNamed(block) ? count : -1;

    /// <summary>True if what references of that origin name is read: those of many blocks at once are read faster.</summary>
    public bool Reads(BlockOrigin origin) => Losses is not null || !Believes(origin);

    /// <summary>
    /// True if index words are made of references of that origin as they are; else what they name is judged. Without a secret anybody can have made what lies there.
    /// </summary>
    public bool Believes(BlockOrigin origin) => _isAdopted && SegmentTable.HasSecret(_head)
        && (store.Settings.ValueCheck is null || (!_isForeign && origin == BlockOrigin.Own));

    /// <summary>
    /// Loads the references of a block, or of several one after the other, whose checksums hold. Several threads may load at the same time, each with a loader of its own.
    /// </summary>
    public LoadOutcome Load(ReadOnlySpan<byte> block, BlockOrigin origin, SnapshotLoader loader)
    {
        ArgumentNullException.ThrowIfNull(loader);
        if (CountNamed(block) < 0)
            return LoadOutcome.Damaged;
        return Losses is null ? LoadKnown(block, origin, loader) : LoadReadable(block, origin, loader, Losses);
    }

    private LoadOutcome LoadKnown(ReadOnlySpan<byte> block, BlockOrigin origin, SnapshotLoader loader) =>
        Believes(origin) ? Adopt(block, loader) : _isAdopted ? AdoptJudged(block, loader) : loader.ReadNamed(block, _medium!, Table);

    private NamedTable Table => NamedTable.Of(_rows, _runs!, _head);

    /// <summary>All is loaded: what is wrong with it, null if nothing is. Nothing keeps the segments but their names any more.</summary>
    public string? End()
    {
        if (!_isFound)
            return null;
        ColdLayers segments = store.Core.Tier!.Segments;
        string? fault = null;
        foreach (SegmentRow row in _rows.Values.Where(row => IsWhereNamed(row) && !row.IsFollower(1 << _shift)))
        {
            // Two words of one record would have it die twice.
            if (_isAdopted && Volatile.Read(ref segments[row.Number]->Live) > row.Named)
                fault ??= $"{PlaceOf(row.Number)} is referred to more often than its row says";
            segments.Unpin(row.Number);
        }
        _isFound = false;
        return fault;
    }

    // What lies where the medium is another than is named is not gone on with there: it is put in as a record. Where all of them are, they are when they are judged.
    private LoadOutcome LoadReadable(ReadOnlySpan<byte> block, BlockOrigin origin, SnapshotLoader loader, ColdLosses losses)
    {
        bool adopts = _medium is null || Believes(origin);
        LoadOutcome read = LoadOutcome.Done;
        NamedState[]? states = _medium is null ? null
            : adopts ? loader.JudgeNamed(block, _medium, Table, losses) : loader.JudgeAndReadNamed(block, _medium, Table, losses, out read);
        if (read != LoadOutcome.Done)
            return read;
        byte[] known = new byte[block.Length], strays = new byte[block.Length];
        int knownBytes = 0, strayBytes = 0;
        for (int i = 0; i < block.Length / ColdNames.ReferenceBytes; i++)
        {
            ReadOnlySpan<byte> reference = block.Slice(i * ColdNames.ReferenceBytes, ColdNames.ReferenceBytes);
            ulong word = BinaryPrimitives.ReadUInt64LittleEndian(reference);
            SegmentRow row = _rows[(uint)(ColdAddress.Offset(word) >> _shift)];
            uint above = BinaryPrimitives.ReadUInt32LittleEndian(reference[sizeof(ulong)..]);
            NamedState state = states?[i] ?? NamedState.Unreadable;
            if (state == NamedState.Unreadable && !_hasIds)
                throw Other(_file, "its databases cannot have the numbers that they had, so that nobody knows which key a lost one was");
            if (state == NamedState.Misnamed)
                losses.NoteOther(row.Number);
            if (state == NamedState.Unreadable)
                losses.Lose(row, word, above, store.Namespaces.Id(row.Database));
            else if (state == NamedState.Misnamed || _strays.Contains(row.Number))
                reference.CopyTo(strays.AsSpan((strayBytes += ColdNames.ReferenceBytes) - ColdNames.ReferenceBytes));
            else
                reference.CopyTo(known.AsSpan((knownBytes += ColdNames.ReferenceBytes) - ColdNames.ReferenceBytes));
        }
        loader.CountNamed((block.Length - knownBytes - strayBytes) / ColdNames.ReferenceBytes, 0);
        if (!adopts)
            return LoadOutcome.Done;
        LoadOutcome outcome = knownBytes == 0 ? LoadOutcome.Done : LoadKnown(known.AsSpan(0, knownBytes), origin, loader);
        return outcome != LoadOutcome.Done || strayBytes == 0 ? outcome
            : loader.ReadNamed(strays.AsSpan(0, strayBytes), _medium!, Table);
    }

    private bool AreNamed(ReadOnlySpan<byte> block)
    {
        for (ReadOnlySpan<byte> rest = block; rest.Length > 0; rest = rest[ColdNames.ReferenceBytes..])
        {
            long offset = ColdAddress.Offset(BinaryPrimitives.ReadUInt64LittleEndian(rest));
            if (!_rows.TryGetValue((uint)(offset >> _shift), out SegmentRow row) || !IsInside(row, offset))
                return false;
        }
        return true;
    }

    private bool IsInside(in SegmentRow row, long offset) =>
        offset - ((long)row.Number << _shift) is var at && at >= ColdHead.Bytes && at + Record.HeaderBytes <= row.Used
            && !row.IsFollower(1 << _shift) && (at == ColdSegments.PageBytes || !row.IsRun(1 << _shift));

    // The log is read after this: what lies behind keeps its order, and is not looked at.
    private LoadOutcome Adopt(ReadOnlySpan<byte> block, SnapshotLoader loader)
    {
        for (ReadOnlySpan<byte> rest = block; rest.Length > 0; rest = rest[ColdNames.ReferenceBytes..])
        {
            LoadOutcome outcome = AdoptedWord.Put(store.Core, rest, isJudged: false, out _);
            if (outcome != LoadOutcome.Done)
                return outcome;
        }
        loader.CountNamed(block.Length / ColdNames.ReferenceBytes, block.Length);
        return LoadOutcome.Done;
    }

    // Of another server, or copied: what lies there may be anything, and is far more than memory holds. A record that is not as its reference says is put in by its own key.
    private LoadOutcome AdoptJudged(ReadOnlySpan<byte> block, SnapshotLoader loader)
    {
        bool[] areAsNamed = loader.JudgeToAdopt(block, _medium!, Table, out LoadOutcome outcome);
        byte[] others = new byte[block.Length];
        int otherBytes = 0;
        for (int i = 0; i < areAsNamed.Length && outcome == LoadOutcome.Done; i++)
        {
            ReadOnlySpan<byte> reference = block.Slice(i * ColdNames.ReferenceBytes, ColdNames.ReferenceBytes);
            bool isAdopted = false;
            if (areAsNamed[i])
                outcome = AdoptedWord.Put(store.Core, reference, isJudged: true, out isAdopted);
            if (!isAdopted)
                reference.CopyTo(others.AsSpan((otherBytes += ColdNames.ReferenceBytes) - ColdNames.ReferenceBytes));
        }
        loader.CountNamed((block.Length - otherBytes) / ColdNames.ReferenceBytes, block.Length - otherBytes);
        return outcome != LoadOutcome.Done || otherBytes == 0 ? outcome : loader.ReadNamed(others.AsSpan(0, otherBytes), _medium!, Table);
    }

    private void Keep(string file, bool isLoaded)
    {
        if (store.Core.Tier is not { Names: { } names } tier || tier.Id != SegmentTable.IdOf(_head) || names.Has(file))
            return;
        if (tier.Segments.SegmentBytes != 1 << _shift)
            return; // that way back is none
        if (Losses is null && MustFit)
            JudgeSize(file);
        _strays.UnionWith(_rows.Keys.Where(number => !tier.Segments.Has(number)));
        _runs!.Spread(_strays);
        Dictionary<uint, SegmentRow> rows = _rows.Values.Where(IsWhereNamed).ToDictionary(static row => row.Number);
        foreach (SegmentRow row in rows.Values)
        {
            if (!tier.Segments.Fits(row))
            {
                if (isLoaded)
                    throw Other(file, $"{PlaceOf(row.Number)} is in use already");
                return;
            }
        }
        tier.Segments.Adopt(rows, _runs);
        foreach ((uint number, (ulong life, int recordMax)) in _recordMax)
        {
            if (rows.ContainsKey(number))
                tier.Segments.LearnRecordMax(number, life, recordMax);
        }
        names.Found(file, [.. rows.Values.Where(row => !row.IsFollower(1 << _shift)).Select(static row => row.Number)]);
        _isFound = true;
    }

    private bool IsWhereNamed(SegmentRow row) => !_strays.Contains(row.Number);

    // Whatever the medium is, or if there is none: what is not there is lost, and no more.
    private void FindStrays(string file, ColdLosses losses)
    {
        if (!SegmentTable.HasHashesOf(_head, store.Core))
            throw Other(file, "its keys have other hashes than this server's, so that nobody knows which a lost one was");
        losses.Begin(_head);
        MediumId id = store.Core.Tier?.Id ?? SegmentTable.IdOf(_head);
        if (_medium is null || id != SegmentTable.IdOf(_head))
        {
            _strays.UnionWith(_rows.Keys);
            return;
        }
        _strays.UnionWith(_rows.Keys.Where(number => !_medium.Has((long)number << _shift, 1L << _shift)));
        foreach (uint number in Judge(_medium, id))
        {
            losses.NoteOther(number);
            _strays.Add(number);
        }
        _runs!.Spread(_strays);
    }

    // What a start refuses, a check finds and a repair mends.
    private List<uint> Judge(IMedium medium, MediumId id)
    {
        SegmentJudge judge = new(medium, id, 1 << _shift);
        judge.Judge(_rows.Values);
        Damaged = judge.Damaged;
        _recordMax = judge.RecordMax;
        return judge.Others;
    }

    private void JudgeMedium(string file)
    {
        if (_medium is not { } medium)
        {
            throw new GarnetException(ExitKind.Configuration, $"the snapshot {file} names values on a tier, and there is no tier",
                "tier-path is not set",
                "Set tier-path to where the tier's file is; a server without a tier gets the data as a replica of this one (REPLICAOF)");
        }
        MediumId id = store.Core.Tier?.Id ?? SegmentTable.IdOf(_head);
        if (id != SegmentTable.IdOf(_head))
            throw Other(file, "it has the id of another server's data");
        int segmentBytes = 1 << _shift;
        if (store.Core.Tier is { Segments.SegmentBytes: var own } && own != segmentBytes)
            throw Other(file, $"its segments have {own} bytes each, and those that are named {segmentBytes}");
        JudgeSize(file);
        List<uint> others = Judge(medium, id);
        if (others.Count > 0)
        {
            string told = SegmentPlace.Of(others.Take(FaultsToldMax), segmentBytes, id);
            throw Other(file, $"of {_rows.Count} segments {others.Count} are not those that are named ({told})");
        }
    }

    // Also for the way back: what lies behind the end would be cut off once the newest is loaded.
    private void JudgeSize(string file)
    {
        if (store.Core.Tier is not { } tier)
            return;
        foreach (IGrouping<bool, uint> part in _rows.Keys.GroupBy(number => (long)number << _shift >= LayeredMedium.MemoryFrom))
        {
            if (!tier.Segments.Has(part.Max()))
                throw TooSmall(file, part.Max(), tier, part.Key ? LayeredMedium.MemoryFrom : 0);
        }
    }

    private GarnetException TooSmall(string file, uint last, ColdTier tier, long from)
    {
        long needed = (((long)last + 1) << _shift) - from, bytes = tier.Medium.Parts.FirstOrDefault(part => part.From == from)?.Bytes ?? 0;
        string setting = (from == 0 ? KeptPart.Disk : KeptPart.Memory).SizeSetting;
        return new GarnetException(ExitKind.Configuration, $"the tier is smaller than what the snapshot {file} names",
            $"it has {bytes} bytes, and {PlaceOf(last)} ends at {needed}", $"Set {setting} to {needed} bytes or more");
    }

    private string PlaceOf(uint number) => SegmentPlace.Of(number, 1 << _shift, SegmentTable.IdOf(_head));

    private static GarnetException Other(string file, string why) => new(
        ExitKind.Data, $"the tier's file is not the one that the snapshot {file} names", why,
        "Put the tier's file (tier-path, tier-pm-path) back: it is missing, cut, an older copy, or another server's. Nothing was changed. "
            + "If there is none, 'garnet-server repair' says what would be lost without it");
}
