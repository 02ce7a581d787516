namespace Garnet.Common;

/// <summary>
/// The glob of KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL patterns: <c>*</c>, <c>?</c>, <c>[a-z]</c>,
/// <c>[^x]</c> and <c>\</c> before a literal byte. Bytes, not characters.
/// common.G1: nothing recurses. common.G2: only the last star is ever tried again (whatever an earlier star could take, a later one
/// can take as well), so the work is at most text length times the longest run between two stars. common.G3: a class counts as one element
/// of that run, however long it is: a long one is read once.
/// </summary>
public static class Glob
{
    public static bool Matches(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text, bool ignoreCase = false)
    {
        if (text.IsEmpty) return pattern.IsEmpty; // as redis-server: not even a star matches nothing
        int p = 0, t = 0, afterStar = -1, retryAt = 0;
        Dictionary<int, LongClass>? longClasses = null;
        while (t < text.Length)
        {
            if (p < pattern.Length && pattern[p] == (byte)'*')
            {
                p = SkipStars(pattern, p);
                if (p == pattern.Length) return true;
                (afterStar, retryAt) = (p, t);
            }
            else if (p < pattern.Length && MatchesOne(pattern, ref p, text[t], ignoreCase, ref longClasses)) t++;
            else if (afterStar < 0) return false;
            else (p, t) = (afterStar, ++retryAt); // common.G2
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
    private static bool MatchesOne(ReadOnlySpan<byte> pattern, ref int p, byte value, bool ignoreCase, ref Dictionary<int, LongClass>? longClasses)
    {
        byte expected = pattern[p];
        switch (expected)
        {
            case (byte)'?':
                p++;
                return true;
            case (byte)'[':
                return pattern.Length - p > ShortClassBytes ? MatchesLong(pattern, ref p, value, ignoreCase, ref longClasses) : MatchesClass(pattern, ref p, value, ignoreCase);
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

    // common.G3
    private static bool MatchesLong(ReadOnlySpan<byte> pattern, ref int p, byte value, bool ignoreCase, ref Dictionary<int, LongClass>? known)
    {
        if (IsShort(pattern, p)) return MatchesClass(pattern, ref p, value, ignoreCase);
        known ??= [];
        if (!known.TryGetValue(p, out LongClass set)) known[p] = set = ReadClass(pattern, p, ignoreCase);
        if (!set.Values[ignoreCase ? Lower(value) : value]) return false;
        p = set.End;
        return true;
    }

    private static bool IsShort(ReadOnlySpan<byte> pattern, int p)
    {
        for (int at = pattern[p + 1] == (byte)'^' ? p + 2 : p + 1; at < p + ShortClassBytes; at += ItemBytes(pattern, at))
        {
            if (pattern[at] == (byte)']') return true;
        }
        return false;
    }

    private static int ItemBytes(ReadOnlySpan<byte> pattern, int at) =>
        pattern[at] == (byte)'\\' && at + 1 < pattern.Length ? 2 : at + 2 < pattern.Length && pattern[at + 1] == (byte)'-' ? 3 : 1;

    /// <summary>Where a range begins one more is counted, behind its end one less.</summary>
    private static LongClass ReadClass(ReadOnlySpan<byte> pattern, int p, bool ignoreCase)
    {
        var changes = new int[257];
        int at = p + 1;
        bool negated = at < pattern.Length && pattern[at] == (byte)'^';
        if (negated) at++;
        while (at < pattern.Length && pattern[at] != (byte)']')
        {
            int bytes = ItemBytes(pattern, at);
            (byte first, byte last) = bytes == 2 ? (pattern[at + 1], pattern[at + 1]) : (pattern[at], pattern[at + bytes - 1]);
            if (first > last) (first, last) = (last, first);
            if (ignoreCase) (first, last) = (Lower(first), Lower(last));
            if (first <= last) (changes[first], changes[last + 1]) = (changes[first] + 1, changes[last + 1] - 1);
            at += bytes;
        }
        var values = new bool[256];
        for (int value = 0, count = 0; value < values.Length; value++) values[value] = (count += changes[value]) > 0 != negated;
        return new LongClass(values, Math.Min(at + 1, pattern.Length));
    }

    private const int ShortClassBytes = 64;

    /// <summary>Which bytes a class takes, and where it ends.</summary>
    private readonly record struct LongClass(bool[] Values, int End);

    private static bool InRange(byte first, byte last, byte value, bool ignoreCase)
    {
        if (first > last) (first, last) = (last, first);
        if (ignoreCase) (first, last, value) = (Lower(first), Lower(last), Lower(value));
        return value >= first && value <= last;
    }

    private static bool Same(byte a, byte b, bool ignoreCase) => a == b || (ignoreCase && Lower(a) == Lower(b));

    private static byte Lower(byte value) => value is >= (byte)'A' and <= (byte)'Z' ? (byte)(value | 0x20) : value;
}
