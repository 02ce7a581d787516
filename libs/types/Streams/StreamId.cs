using Garnet.Common.Bytes;

namespace Garnet.Types.Streams;

/// <summary>The name of an entry: milliseconds, then a number within them.</summary>
public readonly record struct StreamId(ulong Ms, ulong Seq) : IComparable<StreamId>
{
    /// <summary>Bytes of the longest text.</summary>
    public const int TextBytesMax = 48;
    private const int ReadBytesMax = 127;

    public static readonly StreamId Min = default;
    public static readonly StreamId Max = new(ulong.MaxValue, ulong.MaxValue);

    public bool IsZero => (Ms | Seq) == 0;

    /// <summary>The one behind; the smallest behind the greatest.</summary>
    public StreamId Next => Seq < ulong.MaxValue ? new StreamId(Ms, Seq + 1) : new StreamId(Ms + 1, 0);

    /// <summary>The one before; the greatest before the smallest.</summary>
    public StreamId Previous => Seq > 0 ? new StreamId(Ms, Seq - 1) : new StreamId(Ms - 1, ulong.MaxValue);

    public static bool operator <(StreamId left, StreamId right) => left.CompareTo(right) < 0;

    public static bool operator >(StreamId left, StreamId right) => left.CompareTo(right) > 0;

    public static bool operator <=(StreamId left, StreamId right) => left.CompareTo(right) <= 0;

    public static bool operator >=(StreamId left, StreamId right) => left.CompareTo(right) >= 0;

    public int CompareTo(StreamId other) => Ms != other.Ms ? Ms.CompareTo(other.Ms) : Seq.CompareTo(other.Seq);

    /// <summary>Reads <c>ms</c> or <c>ms-seq</c>; a number that is missing is the one given.</summary>
    public static bool TryParse(ReadOnlySpan<byte> text, ulong missingSeq, out StreamId id)
    {
        id = default;
        if (text.Length > ReadBytesMax)
            return false;
        int dash = text.IndexOf((byte)'-');
        ulong seq = missingSeq;
        if (!TryNumber(dash < 0 ? text : text[..dash], out ulong ms) || (dash >= 0 && !TryNumber(text[(dash + 1)..], out seq)))
            return false;
        id = new StreamId(ms, seq);
        return true;
    }

    /// <summary>Reads an end of a range: an id, <c>-</c>, <c>+</c>; with a bracket in front the id itself is not meant.</summary>
    public static bool TryParseBound(ReadOnlySpan<byte> text, ulong missingSeq, out StreamId id, out bool isExclusive)
    {
        isExclusive = text.Length > 1 && text[0] == '(';
        return isExclusive ? TryParse(text[1..], missingSeq, out id) : TryParseAny(text, missingSeq, out id);
    }

    /// <summary>Reads an id, or <c>-</c> for the least and <c>+</c> for the greatest there can be.</summary>
    public static bool TryParseAny(ReadOnlySpan<byte> text, ulong missingSeq, out StreamId id)
    {
        id = text.SequenceEqual("+"u8) ? Max : Min;
        return text.SequenceEqual("+"u8) || text.SequenceEqual("-"u8) || TryParse(text, missingSeq, out id);
    }

    /// <summary>Writes <c>ms-seq</c>; returns the byte behind it.</summary>
    public unsafe byte* Write(byte* to)
    {
        to = NumberText.WriteUnsigned(to, Ms);
        *to++ = (byte)'-';
        return NumberText.WriteUnsigned(to, Seq);
    }

    // As strtoull: blanks, a sign and zeros in front are allowed, and a number below zero wraps; but one that is spelt well is refused.
    public static bool TryNumber(ReadOnlySpan<byte> text, out ulong value)
    {
        value = 0;
        int at = 0;
        while (at < text.Length && text[at] is (byte)' ' or (>= 9 and <= 13))
            at++;
        bool isNegative = at < text.Length && text[at] == '-';
        if (isNegative && NumberText.TryInt64(text, out _))
            return false;
        if (isNegative || (at < text.Length && text[at] == '+'))
            at++;
        if (at == text.Length)
            return false;
        for (; at < text.Length; at++)
        {
            uint digit = (uint)text[at] - '0';
            if (digit > 9 || value > (ulong.MaxValue - digit) / 10)
                return false;
            value = (value * 10) + digit;
        }

        if (isNegative)
            value = 0 - value;
        return true;
    }
}
