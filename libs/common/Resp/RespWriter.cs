using System.Runtime.CompilerServices;
using System.Text;
using Garnet.Common.Bytes;
using Garnet.Common.Faults;

namespace Garnet.Common.Resp;

/// <summary>
/// Writes replies straight into a reactor's reply memory, in RESP2 or RESP3 as the connection asked. 64 bytes behind
/// <see cref="Limit"/> are writable, so that short replies and wide copies need one check.
/// common.R1  A room may move what has been written whenever it is asked for more: a place in a reply is kept as a mark, never as a pointer.
/// </summary>
public sealed unsafe class RespWriter(IReplyRoom room)
{
    /// <summary>Writable bytes behind <see cref="Limit"/>.</summary>
    public const int Slack = 64;

    private const ulong OkReply = 0x0A0D4B4F2B; // "+OK\r\n"
    private const int HeaderBytes = 32, DigitBytes = 24;

    private long _begun;
    private long _givenUpBytes;

    /// <summary>Where the replies begin that stand together here; the room moves it along with them.</summary>
    public byte* Start;

    /// <summary>Next byte to write.</summary>
    public byte* Position;

    /// <summary>End of the room, slack not counted.</summary>
    public byte* Limit;

    /// <summary>True if the connection speaks RESP3.</summary>
    public bool Resp3;

    /// <summary>The place in the replies that is written next (common.R1).</summary>
    public long Mark => Position - Start;

    /// <summary>True if the room has given up the reply under way, as whoever it is for may not get so much; it is not whole then.</summary>
    public bool IsGivenUp { get; private set; }

    /// <summary>True if that is so because there was no memory for it.</summary>
    public bool LacksMemory { get; private set; }

    /// <summary>Bytes of the reply under way, with those that were given up.</summary>
    public long ReplyBytes => _givenUpBytes + Mark - _begun;

    /// <summary>How often something was taken back, or given up: what somebody has noted about a reply holds while this stays.</summary>
    public long TakenBack { get; private set; }

    /// <summary>Goes on in other memory, which ends at <paramref name="limit"/>, with what stands there up to a place.</summary>
    public void MoveTo(byte* start, long kept, byte* limit)
    {
        Start = start;
        Position = start + kept;
        Limit = limit;
    }

    /// <summary>Goes on behind the replies of a client, which begin at a place; nothing of another client's is under way any more.</summary>
    public void StartAt(byte* start)
    {
        Start = start;
        _begun = Mark;
        IsGivenUp = LacksMemory = false;
        _givenUpBytes = 0;
    }

    /// <summary>What is written from here on is one reply.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // on the path of every command
    public void BeginReply() => _begun = Mark;

    /// <summary>What is written from here on is a reply in a longer one, until <see cref="EndPart"/> is called with what this returns.</summary>
    public long BeginPart()
    {
        long whole = _begun;
        _begun = Mark;
        IsGivenUp = LacksMemory = false; // of the longer one at most a beginning has been, which stands again
        _givenUpBytes = 0;
        return whole;
    }

    /// <summary>The longer reply goes on.</summary>
    public void EndPart(long whole) => _begun = whole;

    /// <summary>Takes back the reply under way.</summary>
    public void TakeBackReply() => TakeBackTo(_begun);

    /// <summary>Takes back all behind a mark; what the room has given up since is gone already.</summary>
    public void TakeBackTo(long mark)
    {
        Check.That(mark >= 0, "common.R1 nothing is taken back that was not written");
        TakenBack++;
        Position = Start + Math.Min(mark, Mark);
        if (mark > _begun)
            return;
        IsGivenUp = LacksMemory = false;
        _givenUpBytes = 0;
    }

    /// <summary>For rooms: the reply under way is longer than may be. It goes on from its beginning, and nobody will get it.</summary>
    public void GiveUpReply(bool lacksMemory = false)
    {
        TakenBack++;
        IsGivenUp = true; // also where nothing of it stands yet
        LacksMemory |= lacksMemory;
        _givenUpBytes += Mark - _begun;
        Position = Start + _begun;
    }

    /// <summary>What stands behind a mark, until something is written.</summary>
    public ReadOnlySpan<byte> Since(long mark) => new(Start + Math.Min(mark, Mark), checked((int)(Mark - Math.Min(mark, Mark))));

    /// <summary>Makes sure of <paramref name="bytes"/> and returns the position; the caller moves <see cref="Position"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // on the path of every reply
    public byte* Room(int bytes)
    {
        if (Limit - Position < bytes)
            MakeRoom(bytes);
        return Position;
    }

    /// <summary>
    /// Makes sure of room for a piece that may be large. False if there is no memory for it: the reply is given up, and whoever writes goes on without the
    /// piece, for he may be in the middle of a change.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // on the path of every reply
    private bool HasRoom(int bytes) => Limit - Position >= bytes || TryMakeRoom(bytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void MakeRoom(int bytes)
    {
        if (!room.TryMakeRoom(this, bytes) && Limit - Position < bytes)
            throw new InsufficientMemoryException();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryMakeRoom(int bytes)
    {
        if (room.TryMakeRoom(this, bytes) || Limit - Position >= bytes)
            return true;
        _givenUpBytes += bytes;
        return false;
    }

    /// <summary><c>+OK</c>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // SetBenchmark: one eight-byte store
    public void Ok()
    {
        *(ulong*)Room(8) = OkReply;
        Position += 5;
    }

    /// <summary>A signed integer.</summary>
    public void Int(long value)
    {
        byte* at = Room(HeaderBytes);
        *at++ = (byte)':';
        at = NumberText.Write(at, value);
        Position = EndLine(at);
    }

    /// <summary>A bulk string.</summary>
    public void Bulk(ReadOnlySpan<byte> bytes)
    {
        if (!HasRoom(HeaderBytes + bytes.Length))
            return;
        byte* at = BulkHeader(Position, bytes.Length);
        bytes.CopyTo(new Span<byte>(at, bytes.Length));
        Position = EndLine(at + bytes.Length);
    }

    /// <summary>A bulk string of UTF-8 text.</summary>
    public void Bulk(string text)
    {
        int length = Encoding.UTF8.GetByteCount(text);
        if (!HasRoom(HeaderBytes + DigitBytes + length))
            return;
        byte* at = Header('$', length);
        Encoding.UTF8.GetBytes(text, new Span<byte>(at, length));
        Position = EndLine(at + length);
    }

    /// <summary>A bulk string holding the number's decimal digits.</summary>
    public void BulkInt(long value)
    {
        byte* digits = stackalloc byte[NumberText.Int64BytesMax];
        Bulk(new ReadOnlySpan<byte>(digits, (int)(NumberText.Write(digits, value) - digits)));
    }

    /// <summary>A simple string; line breaks in it become blanks.</summary>
    public void Simple(ReadOnlySpan<byte> text) => Line('+', text);

    /// <summary>An error, its code in front; line breaks in it become blanks (CVE-2025-67733).</summary>
    public void Error(ReadOnlySpan<byte> text) => Line('-', text);

    /// <summary>An error from text whose characters stand for bytes.</summary>
    public void Error(string text) => Error(Encoding.Latin1.GetBytes(text));

    /// <summary>The nil of single values: <c>$-1</c>, or <c>_</c> in RESP3.</summary>
    public void Null()
    {
        if (Resp3)
            Raw("_\r\n"u8);
        else
            Raw("$-1\r\n"u8);
    }

    /// <summary>The nil of lists: <c>*-1</c>, or <c>_</c> in RESP3.</summary>
    public void NullArray()
    {
        if (Resp3)
            Raw("_\r\n"u8);
        else
            Raw("*-1\r\n"u8);
    }

    /// <summary>Begins an array of <paramref name="count"/> elements.</summary>
    public void Array(int count) => Position = Header('*', count);

    /// <summary>Begins a map of <paramref name="pairs"/> pairs; in RESP2 an array of twice as many.</summary>
    public void Map(int pairs) => Position = Resp3 ? Header('%', pairs) : Header('*', pairs * 2);

    /// <summary>Begins a set; in RESP2 an array.</summary>
    public void Set(int count) => Position = Header(Resp3 ? '~' : '*', count);

    /// <summary>Begins an out-of-band message; in RESP2 an array.</summary>
    public void Push(int count) => Position = Header(Resp3 ? '>' : '*', count);

    /// <summary>A boolean; in RESP2 the integer 1 or 0.</summary>
    public void Bool(bool value)
    {
        if (Resp3)
            Raw(value ? "#t\r\n"u8 : "#f\r\n"u8);
        else
            Int(value ? 1 : 0);
    }

    /// <summary>A double; in RESP2 a bulk string of its digits.</summary>
    public void Double(double value)
    {
        Span<byte> text = stackalloc byte[NumberText.DoubleBytesMax];
        int length = NumberText.WriteDouble(text, value);
        if (!Resp3)
        {
            Bulk(text[..length]);
            return;
        }

        byte* at = Room(HeaderBytes + length);
        *at++ = (byte)',';
        text[..length].CopyTo(new Span<byte>(at, length));
        Position = EndLine(at + length);
    }

    /// <summary>Text meant for people (<c>txt</c>); in RESP2 a bulk string.</summary>
    public void Verbatim(ReadOnlySpan<byte> text)
    {
        if (!Resp3)
        {
            Bulk(text);
            return;
        }

        if (!HasRoom(HeaderBytes + DigitBytes + text.Length))
            return;
        byte* at = Header('=', text.Length + 4);
        "txt:"u8.CopyTo(new Span<byte>(at, 4));
        text.CopyTo(new Span<byte>(at + 4, text.Length));
        Position = EndLine(at + 4 + text.Length);
    }

    /// <summary>Bytes as they are.</summary>
    public void Raw(ReadOnlySpan<byte> bytes)
    {
        if (!HasRoom(bytes.Length))
            return;
        bytes.CopyTo(new Span<byte>(Position, bytes.Length));
        Position += bytes.Length;
    }

    /// <summary>Writes <c>$length CR LF</c> at the place, without a check for room; returns the byte behind it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // GetBenchmark: on the path of every value
    public static byte* BulkHeader(byte* at, int length)
    {
        if (length < 10)
        {
            *(uint*)at = 0x0A0D_0024u + ((uint)('0' + length) << 8);
            return at + 4;
        }

        if (length < 100)
        {
            uint tens = (uint)length / 10;
            *(ulong*)at = 0x0A0D_0000_24UL + ((ulong)('0' + tens) << 8) + ((ulong)('0' + ((uint)length - (tens * 10))) << 16);
            return at + 5;
        }

        *at++ = (byte)'$';
        return EndLine(NumberText.WriteUnsigned(at, (ulong)length));
    }

    /// <summary>Writes CR LF; returns the byte behind it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* EndLine(byte* at)
    {
        *(ushort*)at = 0x0A0D;
        return at + 2;
    }

    private byte* Header(char type, int count)
    {
        byte* at = Room(HeaderBytes);
        *at++ = (byte)type;
        return EndLine(NumberText.Write(at, count));
    }

    private void Line(char type, ReadOnlySpan<byte> text)
    {
        if (!HasRoom(HeaderBytes + text.Length))
            return;
        byte* at = Position;
        *at++ = (byte)type;
        foreach (byte b in text)
            *at++ = b is (byte)'\r' or (byte)'\n' ? (byte)' ' : b;
        Position = EndLine(at);
    }
}
