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
    private readonly int _segmentBytes, _shift;
    private readonly NativeArray<byte> _room;
    private readonly long[] _offsets = new long[Depth];
    private readonly FinishedRead[] _finished = new FinishedRead[Depth];
    private byte[] _block = new byte[SnapshotWalk.BlockBytes];

    public NamedReader(IMedium medium, int segmentBytes)
    {
        _medium = medium;
        _segmentBytes = segmentBytes;
        _shift = System.Numerics.BitOperations.Log2((uint)segmentBytes);
        _reader = medium.OpenReader(Depth, ReaderWake.None);
        _room = new NativeArray<byte>(Depth * (long)ColdSegments.PageBytes, ColdSegments.PageBytes);
        _memory = _room.Items;
    }

    /// <summary>Loads what a block of references names; they were judged.</summary>
    /// <exception cref="GarnetException">A record cannot be read.</exception>
    public LoadOutcome Load(ReadOnlySpan<byte> references, Dictionary<uint, SegmentRow> rows, SnapshotLoader loader)
    {
        int count = references.Length / ColdNames.ReferenceBytes, next = 0, done = 0;
        Stack<int> places = new(Enumerable.Range(0, Depth));
        while (done < count)
        {
            for (; next < count && places.Count > 0; next++)
            {
                long offset = ColdAddress.Offset(BinaryPrimitives.ReadUInt64LittleEndian(references[(next * ColdNames.ReferenceBytes)..]));
                int place = places.Pop();
                _offsets[place] = offset;
                byte* to = _memory + ((long)place * ColdSegments.PageBytes);
                _reader.Begin((ulong)place, offset & ~(ColdSegments.PageBytes - 1L), to, ColdSegments.PageBytes);
            }
            _reader.Submit();
            int taken = _reader.Take(_finished);
            if (taken == 0)
                _reader.Wait();
            foreach (FinishedRead read in _finished.AsSpan(0, taken))
            {
                LoadOutcome outcome = Finish(read, rows, loader);
                if (outcome != LoadOutcome.Done)
                    return outcome;
                places.Push((int)read.Token);
                done++;
            }
        }
        return LoadOutcome.Done;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reader.Dispose();
        _room.Dispose();
    }

    private LoadOutcome Finish(in FinishedRead read, Dictionary<uint, SegmentRow> rows, SnapshotLoader loader)
    {
        long offset = _offsets[(int)read.Token], start = offset & ~(ColdSegments.PageBytes - 1L);
        SegmentRow row = rows[(uint)(offset >> _shift)];
        byte* page = _memory + ((long)read.Token * ColdSegments.PageBytes);
        if (read.Result != ColdSegments.PageBytes)
            throw Unreadable(offset, read.Result < 0 ? -read.Result : Libc.EIO);
        if (row.Band == 0)
            return Put(page + (offset - start), ColdSegments.PageBytes - (int)(offset - start), offset, row, loader);
        int bytes = (int)Math.Min((long)ColdSegments.PageBytes << row.Band, ((long)row.Number << _shift) + _segmentBytes - start);
        using NativeArray<byte> large = new(bytes, ColdSegments.PageBytes);
        Fetch(start, large.Items, bytes);
        return Put(large.Items + (offset - start), bytes - (int)(offset - start), offset, row, loader);
    }

    // Large ones are few.
    private void Fetch(long start, byte* to, int bytes)
    {
        using IMediumReader reader = _medium.OpenReader(1, ReaderWake.None);
        Span<FinishedRead> finished = stackalloc FinishedRead[1];
        reader.Begin(0, start, to, bytes);
        reader.Submit();
        while (reader.Take(finished) == 0) reader.Wait();
        if (finished[0].Result != bytes)
            throw Unreadable(start, finished[0].Result < 0 ? -finished[0].Result : Libc.EIO);
    }

    private LoadOutcome Put(byte* image, int room, long offset, in SegmentRow row, SnapshotLoader loader)
    {
        bool isRecord = ColdRecord.TryMeasure(image, room, ColdRecord.PlaceOf(row.Life, offset), out _)
            && Record.Namespace(image) == row.Namespace;
        if (!isRecord)
            throw Unreadable(offset, 0);
        int bytes = SnapshotRecord.BytesOf(image);
        if (bytes + SnapshotLoader.SlackBytes > _block.Length)
            _block = new byte[bytes + SnapshotLoader.SlackBytes];
        fixed (byte* to = _block) SnapshotRecord.Write(to, image, row.Database);
        return loader.Load(_block.AsSpan(0, bytes));
    }

    private GarnetException Unreadable(long offset, int error) => new(
        ExitKind.Data, "a value that the snapshot names cannot be read from the tier it lies on",
        $"segment {offset >> _shift}, offset {offset}: " +
            (error == 0 ? "its checksum is wrong" : new System.ComponentModel.Win32Exception(error).Message),
        "Look at the disk of the tier (tier-path); put its file back from a copy of the same moment, if there is one");
}
