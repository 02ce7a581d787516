using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// The segments of all parts of a tier, by numbers that say which part each is of: persistent memory, where there is some, is the upper one, into which memory is demoted;
/// from it what is coldest goes on to the disk.
/// </summary>
internal sealed unsafe class ColdLayers : IDisposable
{
    private readonly uint _memoryFrom;

    public ColdLayers(IReadOnlyList<MediumPart> parts, int segmentBytes)
    {
        SegmentBytes = segmentBytes == 0 ? ColdSegments.SegmentBytesDefault : segmentBytes;
        _memoryFrom = uint.MaxValue;
        foreach (MediumPart part in parts)
        {
            ColdSegments segments = new(part.Bytes, SegmentBytes, part.From);
            if (part.IsInPlace)
                (Memory, _memoryFrom) = (segments, segments.Before);
            else
                Disk = segments;
        }
        Parts = Memory is null ? [Disk!] : Disk is null ? [Memory] : [Memory, Disk];
    }

    /// <summary>Those on a disk, and those in persistent memory; one of them may be missing.</summary>
    public ColdSegments? Disk { get; }

    /// <inheritdoc cref="Disk"/>
    public ColdSegments? Memory { get; }

    /// <summary>From where nothing goes further.</summary>
    public ColdSegments Bottom => Disk ?? Memory!;

    public int SegmentBytes { get; }

    /// <summary>True as long as nothing has gone to any of them. Under a partition's lock: if true, none of its records is on the tier until the lock is released.</summary>
    public bool IsUntouched => Disk is not { IsUntouched: false } && Memory is not { IsUntouched: false };

    /// <summary>Sums of both.</summary>
    public int Total => (Disk?.Total ?? 0) + (Memory?.Total ?? 0);

    /// <inheritdoc cref="Total"/>
    public int Free => (Disk?.Free ?? 0) + (Memory?.Free ?? 0);

    /// <inheritdoc cref="Total"/>
    public int Kept => (Disk?.Kept ?? 0) + (Memory?.Kept ?? 0);

    /// <inheritdoc cref="Total"/>
    public (long Records, long Bytes) Live
    {
        get
        {
            ((long Records, long Bytes) disk, (long Records, long Bytes) memory) = (Disk?.Live ?? default, Memory?.Live ?? default);
            return (disk.Records + memory.Records, disk.Bytes + memory.Bytes);
        }
    }

    /// <inheritdoc cref="Total"/>
    public long TableBytes => (Disk?.TableBytes ?? 0) + (Memory?.TableBytes ?? 0);

    /// <summary>All of their numbers.</summary>
    public IEnumerable<uint> Numbers
    {
        get
        {
            foreach (ColdSegments part in Parts)
            {
                for (uint number = part.Before + 1; number <= part.Last; number++) yield return number;
            }
        }
    }

    /// <summary>Both, as far as there are two, the upper one first.</summary>
    public ColdSegments[] Parts { get; }

    public ColdSegment* this[uint number] => Of(number)[number];

    /// <summary>The part that a segment is of.</summary>
    public ColdSegments Of(uint number) => IsInMemory(number) ? Memory! : Disk!;

    /// <summary>True if the segment is one of those in persistent memory.</summary>
    public bool IsInMemory(uint number) => number >= _memoryFrom;

    /// <summary>True if there is a segment of that number that may hold records.</summary>
    public bool Has(uint number) => (IsInMemory(number) ? Memory : Disk) is { } part && number > part.Before && number <= part.Last;

    /// <inheritdoc cref="ColdSegments.RunBand"/>
    public int RunBand => Bottom.RunBand;

    /// <inheritdoc cref="ColdSegments.RecordBytesMax"/>
    public int RecordBytesMax => Bottom.RecordBytesMax;

    public uint NumberOf(ulong word) => Bottom.NumberOf(word);

    public long OffsetOf(uint number) => Bottom.OffsetOf(number);

    /// <summary>What is written now is written under it; a start that goes on with a tier sets that one's, before anything is.</summary>
    public TierSecret Secret { get; set; } = TierSecret.New();

    /// <summary>The place, in the use that is made of it now.</summary>
    public ColdPlace PlaceOf(long offset) => new(this[(uint)(offset / SegmentBytes)]->Life, offset, Secret);

    /// <inheritdoc cref="ColdSegments.BytesMaxOf(ulong)"/>
    public long BytesMaxOf(ulong word) => Of(NumberOf(word)).BytesMaxOf(word);

    /// <inheritdoc cref="ColdSegments.RunOf"/>
    public ColdPart[] RunOf(uint first, int parts) => Of(first).RunOf(first, parts);

    /// <inheritdoc cref="ColdSegments.Note"/>
    public void Note(uint number, uint ns, long expireAtMs, int used) => Of(number).Note(number, ns, expireAtMs, used);

    /// <inheritdoc cref="ColdSegments.NameTimed"/>
    public void NameTimed(ulong word, long fromMs) => Of(NumberOf(word)).NameTimed(word, fromMs);

    /// <inheritdoc cref="ColdSegments.LearnTimed"/>
    public void LearnTimed(uint number, ulong life, int named, long fromMs) => Of(number).LearnTimed(number, life, named, fromMs);

    /// <inheritdoc cref="ColdSegments.LearnRecordMax"/>
    public void LearnRecordMax(uint number, ulong life, int recordMax) => Of(number).LearnRecordMax(number, life, recordMax);

    /// <inheritdoc cref="ColdSegments.Seal"/>
    public void Seal(uint number) => Of(number).Seal(number);

    /// <inheritdoc cref="ColdSegments.Died"/>
    public void Died(ulong word) => Of(NumberOf(word)).Died(word);

    /// <inheritdoc cref="ColdSegments.TryRevive"/>
    public bool TryRevive(uint number, uint uses, long expireAtMs) => Of(number).TryRevive(number, uses, expireAtMs);

    /// <inheritdoc cref="ColdSegments.IsToBeRevived"/>
    public bool IsToBeRevived(uint number, uint uses, long expireAtMs) => Of(number).IsToBeRevived(number, uses, expireAtMs);

    /// <inheritdoc cref="ColdSegments.Pin"/>
    public void Pin(uint number) => Of(number).Pin(number);

    public void Unpin(uint number) => Of(number).Unpin(number);

    /// <inheritdoc cref="ColdSegments.Fits"/>
    public bool Fits(in SegmentRow row) => Of(row.Number).Fits(row);

    /// <inheritdoc cref="ColdSegments.Hold"/>
    public void Hold()
    {
        Disk?.Hold();
        Memory?.Hold();
    }

    public void Release()
    {
        Disk?.Release();
        Memory?.Release();
    }

    /// <inheritdoc cref="ColdSegments.Adopt(IReadOnlyDictionary{uint, SegmentRow}, SegmentRuns)"/>
    public void Adopt(IReadOnlyDictionary<uint, SegmentRow> rows, SegmentRuns runs)
    {
        foreach (ColdSegments part in Parts) part.Adopt(rows.Where(row => Of(row.Key) == part).ToDictionary(), runs); // none lies in both
    }

    /// <inheritdoc cref="ColdSegments.Name"/>
    public void Name(uint[] numbers)
    {
        foreach (ColdSegments part in Parts) part.Name(Array.FindAll(numbers, number => Of(number) == part));
    }

    /// <inheritdoc cref="ColdSegments.Unname"/>
    public void Unname(uint[] numbers)
    {
        foreach (ColdSegments part in Parts) part.Unname(Array.FindAll(numbers, number => Of(number) == part));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Disk?.Dispose();
        Memory?.Dispose();
    }
}
