using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// Reads the records that a snapshot's references name from the medium, judges each by its checksum and its place, and puts them in as a snapshot's own records
/// would be: for stores that cannot go on with the references themselves. One per thread.
/// </summary>
internal sealed unsafe class NamedReader : IDisposable
{
    private const int Depth = 32;
    private readonly IMedium _medium;
    private readonly IMediumReader _reader;
    private readonly byte* _memory;
    private readonly NamedTable _table;
    private readonly NativeArray<byte> _room;
    private readonly long[] _offsets = new long[Depth];
    private readonly int[] _indexes = new int[Depth];
    private readonly FinishedRead[] _finished = new FinishedRead[Depth];
    private readonly byte[] _block = new byte[SnapshotWalk.BlockBytes];

    /// <summary>What becomes of a record: <paramref name="image"/> is null if it cannot be read, for the reason <paramref name="error"/> (0: its checksum is wrong).</summary>
    private delegate LoadOutcome Taken(int index, in SegmentRow row, long offset, byte* image, int error);

    public NamedReader(IMedium medium, in NamedTable table)
    {
        _medium = medium;
        _table = table;
        _reader = medium.OpenReader(Depth, ReaderWake.None);
        _room = new NativeArray<byte>(Depth * (long)ColdSegments.PageBytes, ColdSegments.PageBytes);
        _memory = _room.Items;
    }

    /// <summary>Loads what a block of references names; they were judged.</summary>
    /// <exception cref="GarnetException">A record cannot be read.</exception>
    public LoadOutcome Load(ReadOnlySpan<byte> references, SnapshotLoader loader) =>
        ReadAll(references, (int _, in SegmentRow row, long offset, byte* image, int error) =>
            image == null ? throw Unreadable(offset, error) : Put(image, row, loader));

    /// <summary>
    /// What the references of a block come to, in their order. A start that goes on with the tier looks for a record by what its reference says of its key's hash, and would not
    /// find one that is misnamed: that the checksums hold does not say who wrote it. With <paramref name="loader"/> what can be read is loaded at once, so that nothing is read twice.
    /// </summary>
    public NamedState[] Judge(
        ReadOnlySpan<byte> references, StoreCore core, ColdLosses losses, SnapshotLoader? loader, out LoadOutcome outcome)
    {
        NamedState[] states = new NamedState[references.Length / ColdNames.ReferenceBytes];
        (ulong Word, uint Above)[] named = new (ulong, uint)[states.Length];
        for (int i = 0; i < named.Length; i++)
        {
            ReadOnlySpan<byte> reference = references[(i * ColdNames.ReferenceBytes)..];
            named[i].Word = BinaryPrimitives.ReadUInt64LittleEndian(reference);
            named[i].Above = BinaryPrimitives.ReadUInt32LittleEndian(reference[sizeof(ulong)..]);
        }
        outcome = ReadAll(references, (int index, in SegmentRow row, long _, byte* image, int _) =>
        {
            bool isOf = image != null && HasKey(image)
                && losses.IsOf(named[index].Word, named[index].Above, core.KeyOf(image).Hash);
            states[index] = image == null ? NamedState.Unreadable : isOf ? NamedState.AsNamed : NamedState.Misnamed;
            return image == null || loader is null ? LoadOutcome.Done : Put(image, row, loader);
        });
        return states;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reader.Dispose();
        _room.Dispose();
    }

    private LoadOutcome ReadAll(ReadOnlySpan<byte> references, Taken taken)
    {
        int count = references.Length / ColdNames.ReferenceBytes, next = 0, done = 0;
        Stack<int> places = new(Enumerable.Range(0, Depth));
        while (done < count)
        {
            for (; next < count && places.Count > 0; next++)
            {
                long offset = ColdAddress.Offset(BinaryPrimitives.ReadUInt64LittleEndian(references[(next * ColdNames.ReferenceBytes)..]));
                long start = offset & ~(ColdSegments.PageBytes - 1L);
                if (!_medium.Has(start, ColdSegments.PageBytes))
                {
                    LoadOutcome outcome = taken(next, _table.RowAt(offset), offset, null, Libc.EIO);
                    if (outcome != LoadOutcome.Done)
                        return outcome;
                    done++;
                    continue;
                }
                int place = places.Pop();
                (_offsets[place], _indexes[place]) = (offset, next);
                _reader.Begin((ulong)place, start, _memory + ((long)place * ColdSegments.PageBytes), ColdSegments.PageBytes);
            }
            _reader.Submit();
            int got = _reader.Take(_finished);
            if (got == 0)
                _reader.Wait();
            foreach (FinishedRead read in _finished.AsSpan(0, got))
            {
                LoadOutcome outcome = Finish(read, taken);
                if (outcome != LoadOutcome.Done)
                    return outcome;
                places.Push((int)read.Token);
                done++;
            }
        }
        return LoadOutcome.Done;
    }

    private LoadOutcome Finish(in FinishedRead read, Taken taken)
    {
        int index = _indexes[(int)read.Token];
        long offset = _offsets[(int)read.Token], start = offset & ~(ColdSegments.PageBytes - 1L);
        SegmentRow row = _table.RowAt(offset);
        byte* page = _memory + ((long)read.Token * ColdSegments.PageBytes);
        if (read.Result != ColdSegments.PageBytes)
            return taken(index, row, offset, null, ErrorOf(read));
        if (row.Band == 0)
            return taken(index, row, offset, Sound(page, ColdSegments.PageBytes, offset, row), 0);
        ColdPart[] parts = row.IsRun(_table.SegmentBytes) ? _table.PartsOf(row) : [Alone(row, start)];
        long room = parts.Sum(static part => (long)part.ReadBytes);
        using NativeArray<byte> large = new(room, ColdSegments.PageBytes);
        int error = Fetch(parts, large.Items);
        return taken(index, row, offset, error != 0 ? null : Sound(large.Items, room, offset, row), error);
    }

    private ColdPart Alone(in SegmentRow row, long start)
    {
        long last = _medium.EndOf(start) / ColdSegments.PageBytes * ColdSegments.PageBytes;
        long end = Math.Min(((long)row.Number + 1) * _table.SegmentBytes, last);
        return new ColdPart(start, (int)Math.Min(ColdSegments.BytesMaxOf(row.Band), end - start));
    }

    // Large ones are few. Returns the error number.
    private int Fetch(ColdPart[] parts, byte* to)
    {
        using IMediumReader reader = _medium.OpenReader(1, ReaderWake.None);
        Span<FinishedRead> finished = stackalloc FinishedRead[1];
        foreach (ColdPart part in parts)
        {
            if (part.Offset + part.ReadBytes > _medium.Bytes)
                return Libc.EIO;
            reader.Begin(0, part.Offset, to, part.ReadBytes);
            reader.Submit();
            while (reader.Take(finished) == 0) reader.Wait();
            if (finished[0].Result != part.ReadBytes)
                return ErrorOf(finished[0]);
            to += part.ReadBytes;
        }
        return 0;
    }

    private static bool HasKey(byte* image) => !ChunkKey.Is(image) || Record.KeyBytes(image) >= ChunkKey.HeadBytes;

    private static int ErrorOf(in FinishedRead read) => read.Result < 0 ? -read.Result : Libc.EIO;

    // The record at the offset, whose page has been read to there and what follows; null if it is not what was written.
    private static byte* Sound(byte* pages, long bytes, long offset, in SegmentRow row)
    {
        int at = (int)(offset & (ColdSegments.PageBytes - 1));
        byte* image = pages + at;
        bool isSound = ColdRecord.TryMeasure(image, (int)Math.Min(bytes - at, int.MaxValue), ColdRecord.PlaceOf(row.Life, offset), out _)
            && Record.Namespace(image) == row.Namespace;
        return isSound ? image : null;
    }

    private LoadOutcome Put(byte* image, in SegmentRow row, SnapshotLoader loader)
    {
        int bytes = SnapshotRecord.BytesOf(image);
        bool isLarge = bytes + SnapshotLoader.SlackBytes > _block.Length; // few, and not kept
        byte[] block = isLarge ? new byte[checked(bytes + SnapshotLoader.SlackBytes)] : _block;
        fixed (byte* to = block) SnapshotRecord.Write(to, image, row.Database);
        return loader.Load(block.AsSpan(0, bytes));
    }

    private GarnetException Unreadable(long offset, int error) => new(
        ExitKind.Data, "a value that the snapshot names cannot be read from the tier it lies on",
        ColdTier.WhyUnreadable(SegmentPlace.At(offset, _table.SegmentBytes, _table.Id), error),
        $"Look at what the tier lies on ({SegmentPlace.SettingOf(offset)}); "
            + "put its file back from a copy of the same moment, if there is one; "
            + "else 'garnet-server repair' says what would be lost without");
}
