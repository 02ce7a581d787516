using System.Buffers;
using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>
/// The parts of a value that an edit has changed, as they were before: what the edit needs next may lie on the tier, and be on its way or not be readable. The
/// edit is taken back then, and leaves the value as it was (store.C7). What cannot be taken back, since a chunk that was just read cannot be read any more, ends the process. Kept only once something has gone to the tier; of one edit at a time.
/// </summary>
internal sealed unsafe class BeforeImages
{
    /// <summary>The number of the root, which no chunk has.</summary>
    public const uint Root = uint.MaxValue;
    /// <summary>
    /// Bytes of memory that are kept for one edit. Most change a few chunks of some KiB. What changes more has all of the value's chunks read before it goes on.
    /// </summary>
    public const int BytesMax = 16 << 20;
    private const int MuchBytes = 64 << 10;
    private const int Absent = -1, NumbersMax = 4096; // kept from one edit to the next: more take long to be cleared

    private readonly List<Image> _images = [];
    private HashSet<uint> _numbers = [];
    private ArrayBufferWriter<byte> _bytes = new();
    private uint _last;

    /// <summary>False once the edit has changed more than is kept: it cannot be taken back.</summary>
    public bool IsWhole { get; private set; }

    /// <summary>Before the edit changes a part: its record, or null if it is about to be made. With the first one, what was kept for an earlier edit goes.</summary>
    public void Keep(ref RecordEdit edit, uint number, byte* record, bool isFirst)
    {
        if (isFirst)
            Begin();
        else if (number == _last)
            return;
        _last = number;
        if (!IsWhole || !_numbers.Add(number))
            return;
        int bytes = record == null ? Absent : Record.ValueBytes(record);
        if (bytes > BytesMax - _bytes.WrittenCount)
        {
            edit.ReadAll();
            IsWhole = false;
            return;
        }
        _images.Add(new Image { Number = number, Bytes = bytes, At = _bytes.WrittenCount });
        if (bytes > 0)
            _bytes.Write(new ReadOnlySpan<byte>(Record.Value(record), bytes));
    }

    /// <summary>So much that it is not to be put back, and changed again, for each chunk that has to be fetched.</summary>
    public bool IsMuch => _bytes.WrittenCount > MuchBytes;

    /// <summary>Puts back all that was kept.</summary>
    public void TakeBack(ref RecordEdit edit)
    {
        Check.That(IsWhole, "store.C7 chunks that could just be read can be read");
        foreach (Image image in _images)
        {
            if (image.Bytes == Absent)
            {
                edit.RemoveChunk(image.Number);
                continue;
            }
            bool isRoot = image.Number == Root;
            byte* value = isRoot ? edit.Write(image.Bytes, force: true) : edit.WriteChunk(image.Number, image.Bytes, force: true);
            Check.That(value != null, "store.E4 what was there finds room");
            _bytes.WrittenSpan.Slice(image.At, image.Bytes).CopyTo(new Span<byte>(value, image.Bytes));
            if (isRoot)
                edit.Close();
        }
        Begin();
    }

    private void Begin()
    {
        IsWhole = true;
        _images.Clear();
        if (_numbers.Count > NumbersMax)
            _numbers = [];
        else
            _numbers.Clear();
        if (_bytes.Capacity > BytesMax / 16)
            _bytes = new ArrayBufferWriter<byte>();
        else
            _bytes.ResetWrittenCount();
    }

    private struct Image
    {
        public uint Number;
        public int Bytes, At;
    }
}
