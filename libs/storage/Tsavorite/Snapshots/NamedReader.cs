using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// Reads the records that a snapshot's references name from the medium, judges each by its checksum and its place, and puts them in as a snapshot's own records
/// would be: for stores that cannot go on with the references themselves. They are read in the order in which they lie there, neighbours together: the more references
/// there are at once, the less is read twice. One per thread.
/// </summary>
internal sealed unsafe class NamedReader : IDisposable
{
    private const int Depth = 8, WindowBytes = 256 << 10;
    private const long GapBytesMax = 16 << 10; // read for nothing, rather than another read begun: a disk takes about as long for either
    private readonly IMedium _medium;
    private readonly IMediumReader _reader;
    private readonly byte* _memory;
    private readonly NamedTable _table;
    private readonly NativeArray<byte> _room;
    private readonly Window[] _windows = new Window[Depth];
    private readonly FinishedRead[] _finished = new FinishedRead[Depth];
    private readonly Stack<Window> _alone = new(); // a part of what lay in their window could not be read
    private readonly byte[] _block = new byte[SnapshotWalk.BlockBytes];

    /// <summary>What becomes of a record: <paramref name="image"/> is null if it cannot be read, for the reason <paramref name="error"/> (0: its checksum is wrong).</summary>
    private delegate LoadOutcome Taken(int index, in SegmentRow row, long offset, byte* image, int error);

    public NamedReader(IMedium medium, in NamedTable table)
    {
        _medium = medium;
        _table = table;
        _reader = medium.OpenReader(Depth, ReaderWake.None);
        _room = new NativeArray<byte>(Depth * (long)WindowBytes, ColdSegments.PageBytes);
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

    /// <summary>
    /// True, in the order of the references, where the record is found by what its reference says of it: its key's hash, whether it expires, and whether it is a piece; and has a
    /// checksum that tells it later. The others are to be put in by their keys. <see cref="LoadOutcome.Damaged"/> if a value is not what it must be.
    /// </summary>
    /// <exception cref="GarnetException">A record cannot be read.</exception>
    public bool[] JudgeToAdopt(ReadOnlySpan<byte> references, StoreCore core, SnapshotLoader loader, out LoadOutcome outcome)
    {
        bool[] areAsNamed = new bool[references.Length / ColdNames.ReferenceBytes];
        ulong[] words = new ulong[areAsNamed.Length], hashes = new ulong[areAsNamed.Length];
        for (int i = 0; i < words.Length; i++)
        {
            ReadOnlySpan<byte> reference = references[(i * ColdNames.ReferenceBytes)..];
            words[i] = BinaryPrimitives.ReadUInt64LittleEndian(reference);
            hashes[i] = HashBits.Hash(core.Shape, BinaryPrimitives.ReadUInt32LittleEndian(reference[sizeof(ulong)..]), words[i]);
        }
        outcome = ReadAll(references, (int index, in SegmentRow row, long offset, byte* image, int error) =>
        {
            if (image == null)
                throw Unreadable(offset, error);
            LoadRecord record = RecordOf(image);
            if (!HasKey(image) || !loader.IsSound(record))
                return LoadOutcome.Damaged;
            ulong flags = (record.ExpireAtMs != 0 ? IndexWord.TtlBit : 0) | (record.Kind == RecordKind.Chunk ? IndexWord.InternalBit : 0);
            areAsNamed[index] = HashBits.IsOf(core.Shape, hashes[index], core.KeyOf(image).Hash)
                && (words[index] & (IndexWord.TtlBit | IndexWord.InternalBit)) == flags
                && (!_table.Secret.IsNone || (record is { Kind: RecordKind.String, Owner: 0 } && !row.IsRun(_table.SegmentBytes)));
            return LoadOutcome.Done;
        });
        return areAsNamed;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reader.Dispose();
        _room.Dispose();
    }

    private LoadOutcome ReadAll(ReadOnlySpan<byte> references, Taken taken)
    {
        long[] offsets = new long[references.Length / ColdNames.ReferenceBytes];
        int[] indexes = new int[offsets.Length];
        for (int i = 0; i < offsets.Length; i++)
        {
            ulong word = BinaryPrimitives.ReadUInt64LittleEndian(references[(i * ColdNames.ReferenceBytes)..]);
            (offsets[i], indexes[i]) = (ColdAddress.Offset(word), i);
        }
        Array.Sort(offsets, indexes);
        _alone.Clear();
        Stack<int> places = new(Enumerable.Range(0, Depth));
        int next = 0;
        while (next < offsets.Length || _alone.Count > 0 || places.Count < Depth)
        {
            while (places.Count > 0 && (_alone.Count > 0 || next < offsets.Length))
            {
                Window window = _alone.Count > 0 ? _alone.Pop() : WindowFrom(offsets, next);
                next = Math.Max(next, window.End);
                if (window.Bytes == 0)
                {
                    long offset = offsets[window.First];
                    LoadOutcome outcome = taken(indexes[window.First], _table.RowAt(offset), offset, null, Libc.EIO);
                    if (outcome != LoadOutcome.Done)
                        return outcome;
                    continue;
                }
                int place = places.Pop();
                _windows[place] = window;
                _reader.Begin((ulong)place, window.Start, _memory + ((long)place * WindowBytes), window.Bytes);
            }
            _reader.Submit();
            int got = _reader.Take(_finished);
            if (got == 0)
                _reader.Wait();
            foreach (FinishedRead read in _finished.AsSpan(0, got))
            {
                LoadOutcome outcome = Finish(read, offsets, indexes, taken);
                if (outcome != LoadOutcome.Done)
                    return outcome;
                places.Push((int)read.Token);
            }
        }
        return LoadOutcome.Done;
    }

    // The record at the place in the order, and those behind it that lie near. Without bytes: that one is not there.
    private Window WindowFrom(long[] offsets, int first)
    {
        (long start, int bytes) = ExtentOf(offsets[first]);
        if (!_medium.Has(start, bytes))
            return new Window(first, first + 1, start, 0);
        long end = start + bytes;
        int next = first + 1;
        for (; next < offsets.Length; next++)
        {
            (long at, int more) = ExtentOf(offsets[next]);
            if (at > end + GapBytesMax || at + more > start + WindowBytes || !_medium.Has(start, Math.Max(end, at + more) - start))
                break;
            end = Math.Max(end, at + more);
        }
        return new Window(first, next, start, (int)(end - start));
    }

    // What has to be read to have the record, whole where it fits a window; else its first page.
    private (long Start, int Bytes) ExtentOf(long offset)
    {
        SegmentRow row = _table.RowAt(offset);
        long start = offset & ~(ColdSegments.PageBytes - 1L);
        if (row.Band == 0 || row.IsRun(_table.SegmentBytes))
            return (start, ColdSegments.PageBytes);
        int bytes = Alone(row, start).ReadBytes;
        return (start, bytes is > 0 and <= WindowBytes ? bytes : ColdSegments.PageBytes);
    }

    private LoadOutcome Finish(in FinishedRead read, long[] offsets, int[] indexes, Taken taken)
    {
        Window window = _windows[(int)read.Token];
        bool isRead = read.Result == window.Bytes;
        if (!isRead && window.End > window.First + 1)
        {
            for (int i = window.First; i < window.End; i++)
            {
                (long start, int bytes) = ExtentOf(offsets[i]);
                _alone.Push(new Window(i, i + 1, start, bytes));
            }
            return LoadOutcome.Done;
        }
        byte* memory = _memory + ((long)read.Token * WindowBytes);
        for (int i = window.First; i < window.End; i++)
        {
            SegmentRow row = _table.RowAt(offsets[i]);
            LoadOutcome outcome = isRead
                ? Finish(indexes[i], row, offsets[i], memory + (offsets[i] - window.Start), window.Start + window.Bytes - offsets[i], taken)
                : taken(indexes[i], row, offsets[i], null, ErrorOf(read));
            if (outcome != LoadOutcome.Done)
                return outcome;
        }
        return LoadOutcome.Done;
    }

    // The record's place in memory, with so many bytes from there on.
    private LoadOutcome Finish(int index, in SegmentRow row, long offset, byte* image, long bytes, Taken taken)
    {
        (long start, int extent) = ExtentOf(offset);
        bool isRun = row.IsRun(_table.SegmentBytes);
        if (!isRun && (row.Band == 0 || Alone(row, start).ReadBytes == extent))
            return taken(index, row, offset, Sound(image, Math.Min(bytes, start + extent - offset), offset, row), 0);
        ColdPart[] parts = isRun ? _table.PartsOf(row) : [Alone(row, start)];
        long room = parts.Sum(static part => (long)part.ReadBytes);
        using NativeArray<byte> large = new(room, ColdSegments.PageBytes);
        int error = Fetch(parts, large.Items), at = (int)(offset & (ColdSegments.PageBytes - 1));
        return taken(index, row, offset, error != 0 ? null : Sound(large.Items + at, room - at, offset, row), error);
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

    private static LoadRecord RecordOf(byte* image) => new()
    {
        Key = Record.Key(image), KeyBytes = Record.KeyBytes(image), Value = Record.Value(image), ValueBytes = Record.ValueBytes(image),
        Kind = Record.Kind(image), ExpireAtMs = Record.ExpireAtMs(image), ETag = Record.ETag(image), Owner = Record.Owner(image),
    };

    private static bool HasKey(byte* image) => !ChunkKey.Is(image) || Record.KeyBytes(image) >= ChunkKey.HeadBytes;

    private static int ErrorOf(in FinishedRead read) => read.Result < 0 ? -read.Result : Libc.EIO;

    // The record that lies there, with what follows it; null if it is not what was written.
    private byte* Sound(byte* image, long bytes, long offset, in SegmentRow row)
    {
        ColdPlace place = new(row.Life, offset, _table.Secret);
        bool isSound = ColdRecord.TryMeasure(image, (int)Math.Min(bytes, int.MaxValue), place, out _)
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

    /// <summary>What is read in one go: for those from the first up to the end, in the order in which they lie.</summary>
    private readonly record struct Window(int First, int End, long Start, int Bytes);
}
