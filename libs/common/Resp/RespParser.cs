using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;

namespace Garnet.Common.Resp;

/// <summary>
/// Frames one command at a time: finds the arguments of a RESP array or an inline command without copying them.
/// Stateless between commands; an incomplete command consumes nothing.
///
/// common.P1  Nothing outside [position, end) is believed: bytes behind the end may be read (64 are readable) but not used.
/// common.P2  A limit is checked on the number in the header, before any memory is taken for what it announces.
/// common.P3  The trailing CR LF of an argument is checked: a client that lost count is told, not misread.
/// </summary>
public sealed unsafe class RespParser
{
    private const ushort LineEnd = 0x0A0D;        // "\r\n", little endian
    private const uint OneDigitFrame = 0x0A0D0024; // "$?\r\n" without the digit
    private const ushort TlsRecord = 0x0316;      // a handshake, of version 3.x, little endian
    private const uint NoLength = int.MaxValue;
    private const int ShortBytesMin = 8;

    private readonly InlineParser _inline = new();

    /// <summary>The byte behind the command (or behind what was skipped).</summary>
    public byte* Position;

    /// <summary>Index of the command's first argument in the list.</summary>
    public int FirstArg;

    /// <summary>Arguments of the command, its name included.</summary>
    public int ArgCount;

    /// <summary>After <see cref="ParseResult.ProtocolError"/>: what to say, without the "-ERR " in front.</summary>
    public string Error = "";

    /// <summary>After <see cref="ParseResult.Incomplete"/>: bytes from the command's start that are needed at least.</summary>
    public long BytesNeeded;

    /// <summary>Looks for a command at <paramref name="at"/> and adds its arguments to <paramref name="args"/>.</summary>
    public ParseResult Parse(byte* at, byte* end, ArgList args, in RespLimits limits)
    {
        FirstArg = args.Count;
        if (end - at >= ShortBytesMin && *at == '*' && !limits.Unauthenticated && ParseShort(at, end, args))
            return ParseResult.Command;
        return at < end && *at == '*' ? ParseArray(at, end, args, in limits) : ParseLine(at, end, args, in limits);
    }

    // ParserBenchmark: a whole command of up to 99 arguments of up to 999 bytes each, which is most of what arrives. Lengths are
    // taken apart a word at a time. False means "let the general way decide", also when bytes are missing; nothing is kept then.
    private bool ParseShort(byte* at, byte* end, ArgList args)
    {
        uint count = (uint)at[1] - '0';
        byte* q = at + 4;
        if (count - 1 > 8)
            return false;
        if (at[2] != '\r')
        {
            uint second = (uint)at[2] - '0';
            if (second > 9 || at[3] != '\r')
                return false;
            count = (count * 10) + second;
            q++;
        }

        if (q[-1] != '\n')
            return false;
        Arg* item = args.Reserve((int)count);
        for (uint i = 0; i < count; i++)
        {
            uint length = TakeShortLength(ref q);
            if (end - q < length + 2 || *(ushort*)(q + length) != LineEnd)
                return false;
            item->Bytes = q;
            item->Length = (int)length;
            item++;
            q += length + 2;
        }

        args.Count += (int)count;
        ArgCount = (int)count;
        Position = q;
        return true;
    }

    // "$9\r\n", "$99\r\n" or "$999\r\n"; anything else gives a length that cannot fit.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint TakeShortLength(ref byte* q)
    {
        uint word = *(uint*)q;
        uint first = ((word >> 8) & 0xFF) - '0';
        if ((word & 0xFFFF00FF) == OneDigitFrame)
        {
            q += 4;
            return first > 9 ? NoLength : first;
        }

        uint second = ((word >> 16) & 0xFF) - '0', third = word >> 24;
        if ((byte)word != '$' || first - 1 > 8 || second > 9)
            return NoLength;
        uint length = (first * 10) + second;
        if (third == '\r')
        {
            q += 5;
            return q[-1] == '\n' ? length : NoLength;
        }

        third -= '0';
        if (third > 9 || *(ushort*)(q + 4) != LineEnd)
            return NoLength;
        q += 6;
        return (length * 10) + third;
    }

    private ParseResult ParseArray(byte* at, byte* end, ArgList args, in RespLimits limits)
    {
        ParseResult header = ReadHeader(at + 1, end, "too big mbulk count string", out long count, out byte* q);
        if (header != ParseResult.Command)
            return header == ParseResult.ProtocolError && Error.Length == 0
                ? Fail("invalid multibulk length")
                : Needed(header, end - at + 1);
        if (count > limits.ArgsMax)
            return Fail("invalid multibulk length");
        if (limits.Unauthenticated && count > RespLimits.UnauthenticatedArgsMax)
            return Fail("unauthenticated multibulk length");
        if (count <= 0)
        {
            Position = q;
            return ParseResult.Nothing;
        }

        for (long left = count; left > 0; left--)
        {
            ParseResult result = ParseArgument(ref q, end, in limits, out byte* bytes, out int length);
            if (result == ParseResult.Incomplete)
                return Needed(result, BytesNeeded + (q - at));
            if (result != ParseResult.Command)
                return result;
            args.Add(bytes, length);
        }

        ArgCount = (int)count;
        Position = q;
        return ParseResult.Command;
    }

    /// <summary>
    /// Reads one <c>$length CR LF bytes CR LF</c> at <paramref name="q"/> and steps behind it. When incomplete,
    /// <see cref="BytesNeeded"/> counts from <paramref name="q"/>.
    /// </summary>
    public ParseResult ParseArgument(ref byte* q, byte* end, in RespLimits limits, out byte* bytes, out int length)
    {
        bytes = null;
        length = 0;
        if (q >= end)
            return Needed(ParseResult.Incomplete, 2); // a lone line end is refused already
        if (*q == '\r' && end - q > 1)
            return Fail("expected '$', got '\r'");
        ParseResult header = ReadHeader(q + 1, end, "too big bulk count string", out long announced, out byte* body);
        if (header == ParseResult.Incomplete)
            return Needed(header, end - q + 1);
        if (header == ParseResult.ProtocolError && Error.Length > 0)
            return header;
        if (*q != '$')
            return Fail($"expected '$', got '{(char)*q}'");
        if (header == ParseResult.ProtocolError || announced < 0 || announced > limits.BulkBytesMax)
            return Fail("invalid bulk length");
        if (limits.Unauthenticated && announced > RespLimits.UnauthenticatedBulkBytesMax)
            return Fail("unauthenticated bulk length");
        if (end - body < announced + 2)
            return Needed(ParseResult.Incomplete, body - q + announced + 2);
        if (*(ushort*)(body + announced) != LineEnd)
            return Fail("invalid CRLF in request");
        bytes = body;
        length = (int)announced;
        q = body + announced + 2;
        return ParseResult.Command;
    }

    /// <summary>Reads the array header of a command too large for one look; the arguments follow at <see cref="Position"/>.</summary>
    public ParseResult ParseArrayHeader(byte* at, byte* end, in RespLimits limits, out long count)
    {
        ParseResult header = ReadHeader(at + 1, end, "too big mbulk count string", out count, out Position);
        if (header == ParseResult.Command && count > limits.ArgsMax)
            return Fail("invalid multibulk length");
        if (header == ParseResult.Command && limits.Unauthenticated && count > RespLimits.UnauthenticatedArgsMax)
            return Fail("unauthenticated multibulk length");
        return header == ParseResult.ProtocolError && Error.Length == 0 ? Fail("invalid multibulk length") : header;
    }

    // A number up to CR LF. ProtocolError with an empty Error: the text is no number, the caller knows what to call it.
    private ParseResult ReadHeader(byte* at, byte* end, string tooLong, out long number, out byte* after)
    {
        number = 0;
        after = at;
        Error = "";
        long available = end - at;
        int window = (int)Math.Min(Math.Max(available, 0), RespLimits.LineBytesMax);
        int cr = new ReadOnlySpan<byte>(at, window).IndexOf((byte)'\r');
        if (cr < 0)
            return available > RespLimits.LineBytesMax ? Fail(tooLong) : ParseResult.Incomplete;
        if (cr + 1 >= available)
            return ParseResult.Incomplete;
        after = at + cr + 2;
        return NumberText.TryInt64(new ReadOnlySpan<byte>(at, cr), out number) ? ParseResult.Command : ParseResult.ProtocolError;
    }

    private ParseResult ParseLine(byte* at, byte* end, ArgList args, in RespLimits limits)
    {
        long available = end - at;
        if (available > 1 && *(ushort*)at == TlsRecord)
        {
            Error = "this port is not encrypted, and what arrived is TLS";
            return ParseResult.Encrypted;
        }

        int window = (int)Math.Min(available, RespLimits.LineBytesMax + 1);
        int newline = new ReadOnlySpan<byte>(at, window).IndexOf((byte)'\n');
        if (newline < 0)
            return available > RespLimits.LineBytesMax ? Fail("too big inline request") : Needed(ParseResult.Incomplete, available + 1);
        int length = newline > 0 && at[newline - 1] == '\r' ? newline - 1 : newline;
        Position = at + newline + 1;
        if (!_inline.Split(at, length, args))
            return Fail("unbalanced quotes in request");
        ArgCount = args.Count - FirstArg;
        if (ArgCount == 0)
            return ParseResult.Nothing;
        if (limits.Unauthenticated && ArgCount > RespLimits.UnauthenticatedArgsMax)
            return Fail("unauthenticated multibulk length");
        return IsForeign(args.Items[FirstArg].Span) ? ParseResult.Foreign : ParseResult.Command;
    }

    private static bool IsForeign(ReadOnlySpan<byte> name) =>
        System.Text.Ascii.EqualsIgnoreCase(name, "POST"u8) || System.Text.Ascii.EqualsIgnoreCase(name, "HOST:"u8);

    private ParseResult Needed(ParseResult result, long bytes)
    {
        BytesNeeded = bytes;
        return result;
    }

    private ParseResult Fail(string error)
    {
        Error = error;
        return ParseResult.ProtocolError;
    }
}
