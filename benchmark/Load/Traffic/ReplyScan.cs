using System.Runtime.CompilerServices;

namespace Garnet.Load.Traffic;

/// <summary>
/// Counts whole replies in a stream of received bytes without keeping them; resumes anywhere. Two shapes are recognised by one
/// compare each (a bulk string of the expected length and <c>+OK</c>), everything else takes the general path.
/// </summary>
internal sealed unsafe class ReplyScan
{
    private const int LineBytesMax = 256;

    private readonly ReplyTally _tally;
    private readonly ulong _bulkHead, _bulkMask;
    private readonly int _bulkBytes;
    private readonly byte[] _line = new byte[LineBytesMax];
    private int _lineBytes;
    private long _skip;
    private long _elements;

    public ReplyScan(ReplyTally tally, int valueBytes)
    {
        _tally = tally;
        byte[] head = System.Text.Encoding.ASCII.GetBytes($"${valueBytes}\r\n");
        int compared = Math.Min(head.Length, sizeof(ulong));
        byte[] padded = new byte[sizeof(ulong)];
        head.AsSpan(0, compared).CopyTo(padded);
        _bulkHead = BitConverter.ToUInt64(padded);
        _bulkMask = compared == sizeof(ulong) ? ulong.MaxValue : (1UL << (8 * compared)) - 1;
        _bulkBytes = head.Length + valueBytes + 2;
    }

    /// <summary>Takes the next bytes and returns how many replies they completed.</summary>
    public int Feed(byte* bytes, int count)
    {
        byte* at = bytes, end = bytes + count;
        int replies = 0;
        if (_skip > 0 || _lineBytes > 0) at = Resume(at, end, ref replies);
        int bulkRoom = Math.Max(_bulkBytes, sizeof(ulong));
        while (at < end)
        {
            if (end - at >= bulkRoom && (*(ulong*)at & _bulkMask) == _bulkHead)
            {
                at += _bulkBytes;
                if (_elements <= 1) { _elements = 0; replies++; }
                else _elements--;
            }
            else if (_elements == 0 && end - at >= 5 && *(uint*)at == 0x0D4B4F2B)   // "+OK\r"
            {
                at += 5;
                replies++;
            }
            else at = Line(at, end, ref replies);
        }
        return replies;
    }

    private byte* Resume(byte* at, byte* end, ref int replies)
    {
        if (_skip > 0) return Skip(at, end, ref replies);
        while (at < end)
        {
            byte next = *at++;
            if (_lineBytes < LineBytesMax) _line[_lineBytes++] = next;
            if (next != '\n') continue;
            int length = _lineBytes;
            _lineBytes = 0;
            fixed (byte* line = _line) Head(line, length, ref replies);
            return _skip > 0 ? Skip(at, end, ref replies) : at;
        }
        return at;
    }

    private byte* Line(byte* at, byte* end, ref int replies)
    {
        int length = new ReadOnlySpan<byte>(at, (int)(end - at)).IndexOf((byte)'\n') + 1;
        if (length == 0)
        {
            _lineBytes = (int)Math.Min(end - at, LineBytesMax);
            new ReadOnlySpan<byte>(at, _lineBytes).CopyTo(_line);
            return end;
        }
        Head(at, length, ref replies);
        return _skip > 0 ? Skip(at + length, end, ref replies) : at + length;
    }

    private byte* Skip(byte* at, byte* end, ref int replies)
    {
        long step = Math.Min(end - at, _skip);
        _skip -= step;
        if (_skip == 0) Element(ref replies);
        return at + step;
    }

    private void Head(byte* line, int length, ref int replies)
    {
        if (_elements == 0) _elements = 1;
        switch (*line)
        {
            case (byte)'$' or (byte)'=' or (byte)'!':
                long bytes = Number(line, length);
                if (bytes >= 0) { _skip = bytes + 2; return; }
                _tally.Nils++;
                break;
            case (byte)'*' or (byte)'~' or (byte)'>':
                _elements += Math.Max(0, Number(line, length));
                break;
            case (byte)'%':
                _elements += 2 * Math.Max(0, Number(line, length));
                break;
            case (byte)'-':
                _tally.Errors++;
                _tally.FirstError ??= System.Text.Encoding.ASCII.GetString(line, Math.Max(0, length - 2));
                break;
            case (byte)'_':
                _tally.Nils++;
                break;
            case (byte)'+' or (byte)':' or (byte)',' or (byte)'#' or (byte)'(':
                break;
            default:
                throw new InvalidDataException($"not a reply: byte {*line}");
        }
        Element(ref replies);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Element(ref int replies)
    {
        if (--_elements == 0) replies++;
    }

    private static long Number(byte* line, int length)
    {
        if (length > 3 && line[1] == '-') return -1;
        long number = 0;
        for (int i = 1; i < length - 2; i++) number = number * 10 + (line[i] - '0');
        return number;
    }
}
