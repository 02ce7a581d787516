using System.Numerics;
using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Goes through all entries of a collection, or, by a cursor, through a part: chunks follow each other in the order of the reversed
/// bits of their hashes, in which a split or a merge only divides or joins neighbours. So an entry that is there from the first
/// call to the last is shown, however the collection grows or shrinks between them.
/// The collection must not change between two steps of one walk.
/// </summary>
public unsafe struct MemberWalk
{
    private const ulong CursorEnd = 1UL << 32;
    private Page _page;
    private byte* _at;
    private int _left;
    private int _slot;
    private uint _chunk;
    private bool _begun;
    private bool _integers;
    private Entry _current;
    private fixed byte _digits[NumberText.Int64BytesMax + 12];

    /// <summary>The entry the walk is at. Of a set of integers it is valid until the next step, and while the walk is not copied.</summary>
    public readonly Entry Current => _current;

    /// <summary>Goes on to the next entry; false at the end.</summary>
    public bool Next(ref RecordEdit edit, EntryForm form)
    {
        if (!_begun)
            Begin(ref edit);
        if (_at != null)
            return NextPacked(ref edit, form);
        if (_integers)
            return NextInteger(ref edit);
        while (_slot == _page.Count)
        {
            if (++_chunk >= Root.Chunks(edit.Value))
                return false;
            _page = ChunkedMembers.Open(ref edit, _chunk);
            _slot = 0;
        }

        _current = _page.EntryAt(form, _slot++);
        return true;
    }

    /// <summary>Passes over so many entries of a packed collection, before the first step.</summary>
    public void Skip(ref RecordEdit edit, EntryForm form, int entries)
    {
        Begin(ref edit);
        for (int i = 0; i < entries; i++)
            NextPacked(ref edit, form);
    }

    /// <summary>The chunk that a cursor is at, and the cursor behind it (0 = the end).</summary>
    public static uint ChunkAt(ref RecordEdit edit, ulong cursor, out ulong next)
    {
        uint chunks = Root.Chunks(edit.Value), number = ChunkedMembers.NumberOf(Reverse((uint)cursor), chunks);
        int level = BitOperations.Log2(chunks);
        // A chunk that has been split, or came from a split, goes by one bit more.
        int bits = number >= 1u << level || number < chunks - (1u << level) ? level + 1 : level;
        ulong width = CursorEnd >> bits;
        next = (cursor & ~(width - 1)) + width;
        if (next >= CursorEnd)
            next = 0;
        return number;
    }

    private static uint Reverse(uint bits)
    {
        bits = ((bits >> 1) & 0x55555555) | ((bits & 0x55555555) << 1);
        bits = ((bits >> 2) & 0x33333333) | ((bits & 0x33333333) << 2);
        bits = ((bits >> 4) & 0x0F0F0F0F) | ((bits & 0x0F0F0F0F) << 4);
        return System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(bits);
    }

    private void Begin(ref RecordEdit edit)
    {
        _begun = true;
        if (Root.IsChunked(edit.Value))
        {
            _page = ChunkedMembers.Open(ref edit, 0);
            return;
        }

        _integers = Root.Has(edit.Value, RootFlags.Integers);
        if (_integers)
            return;
        _at = edit.Value + Root.PackedBytes;
        _left = Root.PackedCount(edit.Value);
    }

    private bool NextPacked(ref RecordEdit edit, EntryForm form)
    {
        if (_left-- <= 0 || !Entry.TryRead(form, _at, edit.Value + edit.ValueBytes, out _current))
            return false;
        _at += _current.Bytes;
        return true;
    }

    private bool NextInteger(ref RecordEdit edit)
    {
        if (_slot >= IntegerSet.Count(edit.Value))
            return false;
        byte* digits = (byte*)Unsafe.AsPointer(ref _digits[0]);
        int length = (int)(NumberText.Write(digits, IntegerSet.At(edit.Value, _slot++)) - digits);
        _current = new Entry { Start = digits, Key = digits, KeyBytes = length };
        return true;
    }
}
