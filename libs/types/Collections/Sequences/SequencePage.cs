namespace Garnet.Types.Collections;

/// <summary>
/// Elements in order, one behind the other: each its length as <see cref="VarInt"/>, its bytes, and the bytes of both once more as a
/// number read from behind, so that a walk may go either way. Lies in a chunk (0-3 number of elements, 4-7 first byte, 8-11 behind
/// the last one, 12 one if <see cref="SparseIndex"/> follow; free room at both ends), or behind the header of a packed record.
/// </summary>
public unsafe struct SequencePage
{
    public const int HeaderBytes = 16;

    private readonly byte* _at;
    private readonly int _bytes;

    public SequencePage(byte* at, int bytes)
    {
        _at = at;
        _bytes = bytes;
    }

    public readonly bool IsNone => _at == null;

    public readonly byte* At => _at;

    public readonly int Bytes => _bytes;

    public readonly int Count => *(int*)_at;

    public readonly byte* First => _at + *(int*)(_at + 4);

    public readonly byte* End => _at + *(int*)(_at + 8);

    /// <summary>Room for elements that is free.</summary>
    public readonly int Free => _bytes - Head - Used;

    public readonly bool HasSigns => _at[12] != 0;

    public readonly SparseIndex Signs => new(_at + HeaderBytes);

    /// <summary>Bytes before those that elements may lie in.</summary>
    public readonly int Head => HasSigns ? HeaderBytes + SparseIndex.Bytes : HeaderBytes;

    public readonly int Used => (int)(End - First);

    /// <summary>Bytes an element takes.</summary>
    public static long BytesOf(long elementBytes)
    {
        long bytes = VarInt.BytesOf((uint)elementBytes) + elementBytes;
        return bytes + VarInt.BytesOf((uint)bytes);
    }

    /// <summary>Bytes before the elements in a page of that many bytes.</summary>
    public static int HeadOf(SequenceKind kind, int bytes) =>
        kind == SequenceKind.Sorted && bytes < SparseIndex.PageBytesMax ? HeaderBytes + SparseIndex.Bytes : HeaderBytes;

    /// <summary>Makes an empty page; elements begin behind that part of the room: 0 for one that grows at its end, the room for one that grows in front.</summary>
    public static SequencePage Clear(byte* at, int bytes, int begin, SequenceKind kind)
    {
        int head = HeadOf(kind, bytes);
        *(int*)at = 0;
        *(int*)(at + 4) = *(int*)(at + 8) = head + begin;
        *(int*)(at + 12) = head > HeaderBytes ? 1 : 0;
        var page = new SequencePage(at, bytes);
        if (page.HasSigns)
            page.Signs.Clear(head + begin);
        return page;
    }

    /// <summary>Sets the the sparse index's entries of a page whose elements have changed otherwise than one by one.</summary>
    public readonly void SetSigns()
    {
        if (HasSigns)
            Signs.Set(_at, First, Count);
    }

    /// <summary>Writes an element of two parts; returns the byte behind it.</summary>
    public static byte* Write(byte* to, ReadOnlySpan<byte> head, ReadOnlySpan<byte> body)
    {
        byte* start = to;
        to = VarInt.Write(to, (uint)(head.Length + body.Length));
        head.CopyTo(new Span<byte>(to, head.Length));
        body.CopyTo(new Span<byte>(to + head.Length, body.Length));
        to += head.Length + body.Length;
        uint bytes = (uint)(to - start);
        int digits = VarInt.BytesOf(bytes);
        // Highest digits first and the lowest behind: read backwards it is an ordinary VarInt.
        for (int i = digits - 1; i >= 0; i--, bytes >>= 7)
            to[i] = (byte)((bytes & 0x7F) | (i > 0 ? 0x80u : 0u));
        return to + digits;
    }

    /// <summary>Reads the element at the place; returns the byte behind it.</summary>
    public static byte* Read(byte* at, out byte* bytes, out int length)
    {
        byte* start = at;
        uint size = *at;
        if (size < 0x7F) // nearly all: one byte in front, one behind (CollectionCost)
        {
            bytes = at + 1;
            length = (int)size;
            return at + size + 2;
        }

        VarInt.TryRead(ref at, (byte*)nuint.MaxValue, out size);
        bytes = at;
        length = (int)size;
        return at + size + VarInt.BytesOf((uint)(at + size - start));
    }

    /// <summary>The place of the element that ends here.</summary>
    public static byte* Before(byte* end)
    {
        uint bytes = 0;
        byte digit;
        int shift = 0;
        do
        {
            digit = *--end;
            bytes |= (uint)(digit & 0x7F) << shift;
            shift += 7;
        }
        while ((digit & 0x80) != 0);
        return end - bytes;
    }

    /// <summary>Opens a gap of so many bytes before a place; null if there is no room. The caller fills it.</summary>
    public readonly byte* TryOpen(byte* place, int bytes)
    {
        byte* first = First, end = End;
        long inFront = first - _at - Head, behind = _at + _bytes - end;
        if (inFront + behind < bytes)
            return null;
        // The shorter side moves. Where it has no room the other does; but from an edge everything, so that the next ones find room there.
        bool toFront = first == end ? behind < bytes : place - first < end - place;
        if ((toFront ? inFront : behind) < bytes)
        {
            if (place == (toFront ? first : end) || (toFront ? behind : inFront) < bytes)
                return TryOpen(place + Slide(toFront ? behind : -inFront), bytes);
            toFront = !toFront;
        }

        if (HasSigns)
            Signs.Open((int)(place - _at), bytes, toFront);
        if (toFront)
        {
            Buffer.MemoryCopy(first, first - bytes, place - first, place - first);
            *(int*)(_at + 4) -= bytes;
            place -= bytes;
        }
        else
        {
            Buffer.MemoryCopy(place, place + bytes, end - place, end - place);
            *(int*)(_at + 8) += bytes;
        }

        ++*(int*)_at;
        return place;
    }

    /// <summary>Forgets what lies between two places: so many elements.</summary>
    public readonly void Cut(byte* from, byte* to, int elements)
    {
        byte* first = First, end = End;
        bool fromFront = from - first < end - to;
        if (fromFront)
        {
            Buffer.MemoryCopy(first, first + (to - from), from - first, from - first);
            *(int*)(_at + 4) += (int)(to - from);
        }
        else
        {
            Buffer.MemoryCopy(to, from, end - to, end - to);
            *(int*)(_at + 8) -= (int)(to - from);
        }

        *(int*)_at -= elements;
        if (HasSigns && elements == 1)
            Signs.Cut(_at, (int)(from - _at), (int)(to - _at), fromFront, (int)(End - _at));
        else
            SetSigns();
    }

    /// <summary>Takes over elements that lie elsewhere, at the end; there is room.</summary>
    public readonly void Append(byte* from, byte* to, int elements)
    {
        Buffer.MemoryCopy(from, End, to - from, to - from);
        *(int*)(_at + 8) += (int)(to - from);
        *(int*)_at += elements;
        SetSigns();
    }

    // Moves all elements; returns how far.
    private readonly long Slide(long by)
    {
        byte* first = First;
        Buffer.MemoryCopy(first, first + by, Used, Used);
        *(int*)(_at + 4) += (int)by;
        *(int*)(_at + 8) += (int)by;
        if (HasSigns)
            Signs.Slide((int)by);
        return by;
    }
}
