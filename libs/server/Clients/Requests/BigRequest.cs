using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Server.Clients;

/// <summary>
/// One command too large for the shared receive arena: its bytes gather in memory of its own, which grows with what has
/// arrived (at most doubling), never with what a header announces, unless there is a block of that size already. Arguments already framed are not looked at again.
/// </summary>
internal sealed unsafe class BigRequest : IDisposable
{
    /// <summary>A request of more bytes than this leaves the shared arena.</summary>
    public const int Threshold = 16 * 1024;

    private const int ReadableSlack = 64;

    private readonly List<(long Offset, int Length)> _framed = [];
    private byte* _memory;
    private long _capacity;
    private long _parsed;
    private long _argsLeft = -1;

    /// <summary>One that has begun to arrive; <paramref name="needed"/> bytes are needed of it.</summary>
    public static BigRequest Begin(byte* at, byte* end, long needed)
    {
        var request = new BigRequest { BytesNeeded = needed };
        request.Append(at, (int)(end - at));
        return request;
    }

    /// <summary>Bytes that have arrived.</summary>
    public long Count { get; private set; }

    /// <summary>Memory taken, in bytes.</summary>
    public long Capacity => _capacity;

    /// <summary>Bytes from the start after which another look is worth it.</summary>
    public long BytesNeeded { get; set; }

    /// <summary>The byte behind the command, once complete.</summary>
    public byte* CommandEnd => _memory + _parsed;

    /// <summary>The byte behind everything that has arrived.</summary>
    public byte* End => _memory + Count;

    /// <summary>First byte of the command.</summary>
    public byte* Start => _memory;

    /// <summary>Room for at least <paramref name="wanted"/> more bytes.</summary>
    public byte* Room(long wanted, out int room)
    {
        long needed = Count + wanted + ReadableSlack;
        if (_capacity < needed)
            Grow(Math.Max(needed, Math.Min(_capacity * 2, Math.Max(BytesNeeded + ReadableSlack, needed))));
        room = (int)Math.Min(_capacity - ReadableSlack - Count, int.MaxValue);
        return _memory + Count;
    }

    /// <summary>Counts bytes written to <see cref="Room"/>.</summary>
    public void Arrived(int bytes) => Count += bytes;

    /// <summary>Adds bytes that were received elsewhere.</summary>
    public void Append(byte* bytes, int count)
    {
        Buffer.MemoryCopy(bytes, Room(count, out _), count, count);
        Count += count;
    }

    /// <summary>Frames what can be framed; with the whole command there, its arguments are added to <paramref name="args"/>.</summary>
    public ParseResult Parse(RespParser parser, ArgList args, in RespLimits limits)
    {
        if (Count < BytesNeeded)
            return ParseResult.Incomplete;
        if (_argsLeft < 0)
        {
            if (*_memory != '*')
                return ParseInline(parser, args, in limits);
            ParseResult header = parser.ParseArrayHeader(_memory, End, in limits, out long count);
            if (header != ParseResult.Command)
                return header;
            _argsLeft = count; // only now: a header cut in its middle has no count yet
            _parsed = parser.Position - _memory;
            if (_argsLeft <= 0)
                return ParseResult.Nothing;
        }

        byte* at = _memory + _parsed;
        while (_argsLeft > 0)
        {
            ParseResult result = parser.ParseArgument(ref at, End, in limits, out byte* bytes, out int length);
            if (result == ParseResult.Incomplete)
                BytesNeeded = at - _memory + parser.BytesNeeded;
            if (result != ParseResult.Command)
                return result;
            _framed.Add((bytes - _memory, length));
            _parsed = at - _memory;
            _argsLeft--;
        }

        parser.FirstArg = args.Count;
        parser.ArgCount = _framed.Count;
        foreach ((long offset, int length) in _framed)
            args.Add(_memory + offset, length);
        return ParseResult.Command;
    }

    /// <summary>All of it is framed anew: the command is to run again.</summary>
    public void Rewind()
    {
        _framed.Clear();
        _argsLeft = -1;
        BytesNeeded = _parsed = 0;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        LargeBlocks.Free(_memory, _capacity);
        _memory = null;
        _capacity = 0;
    }

    private ParseResult ParseInline(RespParser parser, ArgList args, in RespLimits limits)
    {
        ParseResult result = parser.Parse(_memory, End, args, in limits);
        _parsed = parser.Position - _memory;
        return result;
    }

    private void Grow(long capacity)
    {
        byte* kept = LargeBlocks.TryTake(Math.Max(capacity, BytesNeeded + ReadableSlack), out long bytes);
        if (kept != null)
        {
            Buffer.MemoryCopy(_memory, kept, bytes, Count);
            LargeBlocks.Free(_memory, _capacity);
            _memory = kept;
            _capacity = bytes;
            return;
        }

        _memory = (byte*)NativeMemory.Realloc(_memory, (nuint)capacity);
        _capacity = capacity;
    }
}
