using System.Runtime.InteropServices;
using Garnet.Aof.Format;
using Garnet.Common.Faults;

namespace Garnet.Aof.Shipping;

/// <summary>
/// A batch as it stands in the files: the bytes of all its parts, outside the managed heap, shared by whoever holds it. The
/// last to let go frees them.
/// </summary>
public sealed unsafe class BatchBytes
{
    private readonly nint[] _parts;
    private readonly int[] _lengths;
    private readonly uint[] _crcs;
    private int _holders = 1;
    private int _missing;

    internal BatchBytes(in BatchHeader header)
    {
        (Batch, Term, Owner, Kind, SealedUnixUs) = (header.Batch, header.Term, header.Owner, header.Kind, header.SealedUnixUs);
        _missing = header.Parts;
        (_parts, _lengths, _crcs) = (new nint[header.Parts], new int[header.Parts], new uint[header.Parts]);
    }

    /// <summary>Number of the batch.</summary>
    public ulong Batch { get; }
    /// <summary>Its term.</summary>
    public uint Term { get; }
    /// <summary>Who began the term.</summary>
    public uint Owner { get; }
    /// <summary>What it holds.</summary>
    public BatchKind Kind { get; }
    /// <summary>When it was closed, Unix microseconds.</summary>
    public ulong SealedUnixUs { get; }
    /// <summary>Entries in all parts that are there.</summary>
    public long Entries { get; private set; }
    /// <summary>Bytes held.</summary>
    public long Bytes { get; private set; }
    /// <summary>Number of parts.</summary>
    public int Parts => _parts.Length;
    /// <summary>True when all parts are there.</summary>
    public bool IsWhole => _missing == 0;
    /// <summary>True if the bytes of all parts are kept.</summary>
    public bool HasBytes => !_parts.AsSpan().Contains(0);
    /// <summary>Where the log stands behind the batch.</summary>
    public LogPosition Position => new(Term, Batch, [.. _crcs]);

    /// <summary>The mark of that place.</summary>
    public uint Mark => LogPosition.MarkOf(_crcs);

    /// <summary>The bytes of a part: header, lane table, entries; the holder's as long as it holds the batch.</summary>
    public ReadOnlySpan<byte> Part(int part) => new((void*)_parts[part], _lengths[part]);

    internal byte* PartAt(int part) => (byte*)_parts[part];

    /// <summary>Adds a part; <paramref name="keeps"/> says whether its bytes are wanted or only what it is.</summary>
    internal void Add(in BatchHeader header, uint crc, ReadOnlySpan<byte> part, bool keeps)
    {
        if (keeps)
            part.CopyTo(Room(header.Part, part.Length));
        Count(header, crc);
    }

    /// <summary>Adds a part whose header and whose body are in two places.</summary>
    internal void Add(in BatchHeader header, uint crc, ReadOnlySpan<byte> body)
    {
        Span<byte> part = Room(header.Part, checked(BatchHeader.Bytes + body.Length));
        header.Write(part);
        body.CopyTo(part[BatchHeader.Bytes..]);
        Count(header, crc);
    }

    private Span<byte> Room(int part, int length)
    {
        Check.That(_parts[part] == 0, "log.B1 a part of a batch comes once");
        byte* bytes = (byte*)NativeMemory.Alloc((nuint)length);
        _parts[part] = (nint)bytes;
        _lengths[part] = length;
        Bytes += length;
        return new Span<byte>(bytes, length);
    }

    private void Count(in BatchHeader header, uint crc)
    {
        Check.That(_crcs[header.Part] == 0, "log.B1 a part of a batch comes once");
        _crcs[header.Part] = crc;
        Entries += header.Entries;
        _missing--;
    }

    /// <summary>One holder more.</summary>
    public void Hold() => Interlocked.Increment(ref _holders);

    /// <summary>The caller is done with it.</summary>
    public void Release()
    {
        int left = Interlocked.Decrement(ref _holders);
        Check.That(left >= 0, "log.B1 a batch is let go once by each holder");
        if (left > 0)
            return;
        foreach (nint part in _parts) NativeMemory.Free((void*)part);
    }
}
