namespace Garnet.Common;

/// <summary>
/// The glob of KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL patterns: <c>*</c>, <c>?</c>, <c>[a-z]</c>,
/// <c>[^x]</c> and <c>\</c> before a literal byte. Bytes, not characters.
/// G1: nothing recurses. G2: only the last star is ever tried again (whatever an earlier star could take, a later one
/// can take as well), so the work is at most text length times the longest run between two stars.
/// </summary>
public static class Glob
{
    public static bool Matches(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text, bool ignoreCase = false)
    {
        if (text.IsEmpty) return pattern.IsEmpty; // as redis-server: not even a star matches nothing
        int p = 0, t = 0, afterStar = -1, retryAt = 0;
        while (t < text.Length)
        {
            if (p < pattern.Length && pattern[p] == (byte)'*')
            {
                p = SkipStars(pattern, p);
                if (p == pattern.Length) return true;
                (afterStar, retryAt) = (p, t);
            }
            else if (p < pattern.Length && MatchesOne(pattern, ref p, text[t], ignoreCase)) t++;
            else if (afterStar < 0) return false;
            else (p, t) = (afterStar, ++retryAt); // G2
        }
        return SkipStars(pattern, p) == pattern.Length;
    }

    /// <summary>True if the pattern can match more than one text, so that a plain look-up does not do.</summary>
    public static bool IsPattern(ReadOnlySpan<byte> pattern) => pattern.IndexOfAny("*?[\\"u8) >= 0;

    private static int SkipStars(ReadOnlySpan<byte> pattern, int p)
    {
        while (p < pattern.Length && pattern[p] == (byte)'*') p++;
        return p;
    }

    /// <summary>Matches one byte against the element at <paramref name="p"/> and moves past the element on success.</summary>
    private static bool MatchesOne(ReadOnlySpan<byte> pattern, ref int p, byte value, bool ignoreCase)
    {
        byte expected = pattern[p];
        switch (expected)
        {
            case (byte)'?':
                p++;
                return true;
            case (byte)'[':
                return MatchesClass(pattern, ref p, value, ignoreCase);
            case (byte)'\\' when p + 1 < pattern.Length:
                if (!Same(pattern[p + 1], value, ignoreCase)) return false;
                p += 2;
                return true;
            default:
                if (!Same(expected, value, ignoreCase)) return false;
                p++;
                return true;
        }
    }

    /// <summary>
    /// A class that is never closed ends with the pattern; a bracket straight after the opening closes an empty class;
    /// a range takes whatever byte follows its dash, a closing bracket included. All as redis-server does.
    /// </summary>
    private static bool MatchesClass(ReadOnlySpan<byte> pattern, ref int p, byte value, bool ignoreCase)
    {
        int at = p + 1;
        bool negated = at < pattern.Length && pattern[at] == (byte)'^', found = false;
        if (negated) at++;
        while (at < pattern.Length && pattern[at] != (byte)']')
        {
            if (pattern[at] == (byte)'\\' && at + 1 < pattern.Length)
            {
                found |= Same(pattern[at + 1], value, ignoreCase);
                at += 2;
            }
            else if (at + 2 < pattern.Length && pattern[at + 1] == (byte)'-')
            {
                found |= InRange(pattern[at], pattern[at + 2], value, ignoreCase);
                at += 3;
            }
            else found |= Same(pattern[at++], value, ignoreCase);
        }
        if (found == negated) return false;
        p = Math.Min(at + 1, pattern.Length);
        return true;
    }

    private static bool InRange(byte first, byte last, byte value, bool ignoreCase)
    {
        if (first > last) (first, last) = (last, first);
        if (ignoreCase) (first, last, value) = (Lower(first), Lower(last), Lower(value));
        return value >= first && value <= last;
    }

    private static bool Same(byte a, byte b, bool ignoreCase) => a == b || (ignoreCase && Lower(a) == Lower(b));

    private static byte Lower(byte value) => value is >= (byte)'A' and <= (byte)'Z' ? (byte)(value | 0x20) : value;
}
