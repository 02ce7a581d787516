namespace Garnet.Common.Resp;

/// <summary>
/// Splits a line the way a shell-like client types it: blanks separate, "double quotes" know the escapes \n \r \t \b \a \\
/// \" and \xHH, 'single quotes' know only \'. A closing quote must be followed by a blank or the end. The line
/// itself stays as it is, since a command that must wait is read again from its bytes; a line with quotes is resolved in
/// the list's scratch memory: the result is never longer than what was typed.
/// </summary>
public sealed unsafe class InlineParser
{
    /// <summary>Adds the words of the line to the list; false if the quotes do not balance.</summary>
    public bool Split(byte* line, int length, ArgList args)
    {
        if (new ReadOnlySpan<byte>(line, length).IndexOfAny((byte)'"', (byte)'\'') >= 0)
        {
            byte* copy = args.Scratch(length);
            Buffer.MemoryCopy(line, copy, length, length);
            line = copy;
        }

        byte* at = line;
        byte* end = line + length;
        while (true)
        {
            while (at < end && IsBlank(*at))
                at++;
            if (at == end || *at == 0)
                return true;
            byte* word = at;
            byte* write = at;
            bool complete = TakeWord(ref at, end, ref write);
            if (!complete)
                return false;
            args.Add(word, (int)(write - word));
        }
    }

    private static bool TakeWord(ref byte* at, byte* end, ref byte* write)
    {
        while (at < end && !IsBlank(*at) && *at != 0)
        {
            byte b = *at++;
            bool fine = b switch
            {
                (byte)'"' => TakeDoubleQuoted(ref at, end, ref write),
                (byte)'\'' => TakeSingleQuoted(ref at, end, ref write),
                _ => Put(ref write, b),
            };
            if (!fine)
                return false;
        }

        return true;
    }

    private static bool TakeDoubleQuoted(ref byte* at, byte* end, ref byte* write)
    {
        while (at < end)
        {
            byte b = *at++;
            if (b == '"')
                return at == end || IsBlank(*at);
            if (b != '\\' || at == end)
            {
                Put(ref write, b);
                continue;
            }

            byte escaped = *at++;
            if (escaped == 'x' && end - at >= 2 && TryHex(at[0], out int high) && TryHex(at[1], out int low))
            {
                Put(ref write, (byte)((high << 4) | low));
                at += 2;
                continue;
            }

            Put(ref write, Unescape(escaped));
        }

        return false;
    }

    private static bool TakeSingleQuoted(ref byte* at, byte* end, ref byte* write)
    {
        while (at < end)
        {
            byte b = *at++;
            if (b == '\'')
                return at == end || IsBlank(*at);
            if (b == '\\' && at < end && *at == '\'')
                b = *at++;
            Put(ref write, b);
        }

        return false;
    }

    private static byte Unescape(byte b) => b switch
    {
        (byte)'n' => (byte)'\n',
        (byte)'r' => (byte)'\r',
        (byte)'t' => (byte)'\t',
        (byte)'b' => (byte)'\b',
        (byte)'a' => 7,
        _ => b,
    };

    private static bool Put(ref byte* write, byte b)
    {
        *write++ = b;
        return true;
    }

    private static bool IsBlank(byte b) => b is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n' or 11 or 12;

    private static bool TryHex(byte b, out int value)
    {
        value = b switch
        {
            >= (byte)'0' and <= (byte)'9' => b - '0',
            >= (byte)'a' and <= (byte)'f' => b - 'a' + 10,
            >= (byte)'A' and <= (byte)'F' => b - 'A' + 10,
            _ => -1,
        };
        return value >= 0;
    }
}
