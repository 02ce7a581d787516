using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// Reads a whole RDB file of ours as an import would, piece by piece and keeping nothing: every record is decoded, and the checksum, which ours always have,
/// is looked at. Memory is bounded by the largest value, which is in it as bytes and decoded.
/// </summary>
public sealed unsafe class RdbScan : IRdbEntries, IDisposable
{
    private const int HeadBytes = 9, CrcBytes = 8, PieceBytes = 1 << 20;
    private const string Ends = "it ends in the middle", NoHead = "it does not begin as an RDB file does";

    private readonly IRdbSource _source;
    private readonly RdbEntries _entries;
    private readonly byte[] _piece = new byte[PieceBytes];
    private ByteQueue _window;
    private ulong _crc;

    /// <summary>Reads from there.</summary>
    public RdbScan(IRdbSource source)
    {
        _source = source;
        _entries = new RdbEntries(this);
    }

    /// <summary>Keys in it.</summary>
    public long Keys { get; private set; }

    /// <summary>Libraries of functions.</summary>
    public int Functions { get; private set; }

    /// <summary>Databases that it takes: one more than the highest number.</summary>
    public long Databases { get; private set; }

    /// <summary>Bytes read up to the end, or to what is not sound.</summary>
    public long Offset { get; private set; }

    /// <summary>Reads all of it: null if it is sound, else why it is not.</summary>
    public string? Run() => TakeHead() ?? TakeEntries() ?? TakeEnd();

    /// <inheritdoc/>
    public void Dispose()
    {
        _window.Free();
        _entries.Dispose();
    }

    /// <inheritdoc/>
    string? IRdbEntries.Select(ulong database)
    {
        if (database > int.MaxValue)
            return $"it holds database {database}, and there is none of that number";
        Databases = Math.Max(Databases, (long)database + 1);
        return null;
    }

    /// <inheritdoc/>
    string? IRdbEntries.Take(Arg key, RdbValue value, long expireAtMs)
    {
        Keys++;
        return null;
    }

    /// <inheritdoc/>
    string? IRdbEntries.TakeMemberTime(Arg member, long expireAtMs) => null;

    /// <inheritdoc/>
    void IRdbEntries.TakeFunction(ReadOnlySpan<byte> source) => Functions++;

    /// <inheritdoc/>
    void IRdbEntries.PassModule()
    {
        // ours have none, and an import passes them too
    }

    private string? TakeHead()
    {
        if (!TryFill(HeadBytes) || _window.Count < HeadBytes)
            return Ends;
        var head = new ReadOnlySpan<byte>(_window.Head, HeadBytes);
        if (!RdbFile.TryVersion(head, out int version))
            return NoHead;
        Pass(HeadBytes);
        bool isKnown = version is >= 1 and <= RdbPayload.VersionMax;
        return isKnown ? null : $"it has version {version}, and none above {RdbPayload.VersionMax} is understood";
    }

    // What the bytes at hand do not hold as a whole is read again with twice as many.
    private string? TakeEntries()
    {
        while (true)
        {
            string? why = TakeAtHand(out bool isEnd);
            if (isEnd)
                return null;
            if (!TryFill((long)_window.Count + Math.Max(_window.Count, PieceBytes)))
                return why ?? Ends;
        }
    }

    private string? TakeAtHand(out bool isEnd)
    {
        byte* start = _window.Head, taken = start;
        var from = new RdbCursor(start, start + _window.Count);
        string? why = null;
        isEnd = false;
        try
        {
            while (why is null && !isEnd)
            {
                taken = from.At;
                why = _entries.Take(ref from, out isEnd);
            }

            Pass((int)((isEnd ? from.At : taken) - start));
            return why;
        }
        finally
        {
            from.Free();
        }
    }

    private string? TakeEnd()
    {
        ulong crc = _crc;
        TryFill(CrcBytes);
        if (_window.Count < CrcBytes)
            return Ends;
        if (BinaryPrimitives.ReadUInt64LittleEndian(new ReadOnlySpan<byte>(_window.Head, CrcBytes)) != crc)
            return "its checksum is wrong";
        Pass(CrcBytes);
        return _window.Count > 0 || TryFill(1) ? "something stands behind its end" : null;
    }

    private void Pass(int bytes)
    {
        _crc = Crc64.Append(_crc, _window.Head, bytes);
        _window.Drop(bytes);
        Offset += bytes;
    }

    // True if there is more at hand than before: as much as is wanted, or all that the source has.
    private bool TryFill(long wanted)
    {
        int before = _window.Count, got = 1;
        while (_window.Count < wanted && got > 0)
        {
            got = _source.Read(_piece);
            _window.Append(_piece.AsSpan(0, got));
        }

        return _window.Count > before;
    }
}
