using Garnet.Common.Faults;

namespace Garnet.Common;

/// <summary>
/// The glob of KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL patterns: <c>*</c>, <c>?</c>, <c>[a-z]</c>,
/// <c>[^x]</c> and <c>\</c> before a literal byte. Bytes, not characters. Made once for all the texts it is asked about.
/// common.G1: nothing recurses. common.G2: only the last star is ever tried again (whatever an earlier star could take, a later one
/// can take as well), and where trying costs more than <see cref="TriesPerByte"/> bytes for each of the text, each further run between two stars is tried
/// for as long as it would take to see which bytes its elements match, and then sought for at all places at once (<see cref="Find"/>): the work is at most
/// the text times <see cref="RunMax"/>, and that only where such runs follow each other closely. common.G3: a class counts as one element
/// of that run, and stars in a row as one, however long they are: long ones are read once, when the pattern is made.
/// </summary>
public sealed class Glob
{
    /// <summary>Elements between two stars at most.</summary>
    public const int RunMax = 1024;

    private const int ShortBytes = 64, SetBytes = 32, TriesPerByte = 16, WordBits = 64;
    private const byte Set = (byte)']'; // in a pattern that was shortened: before the 256 bits that stand for a long class

    private readonly byte[] _pattern;
    private readonly bool _shortened, _ignoreCase;
    private readonly int _plainBytes; // with which every text begins that matches

    /// <summary>A pattern; the array is kept.</summary>
    /// <exception cref="TooLargeException">More than <see cref="RunMax"/> elements stand between two stars.</exception>
    public Glob(byte[] pattern, bool ignoreCase = false)
    {
        _ignoreCase = ignoreCase;
        _shortened = pattern.Length > ShortBytes;
        _pattern = _shortened ? Shortened(pattern, ignoreCase) : pattern;
        if (_shortened)
            RefuseLongRuns();
        int special = ignoreCase ? 0 : _pattern.AsSpan().IndexOfAny("*?[\\]"u8);
        _plainBytes = special < 0 ? _pattern.Length : special;
    }

    public bool Matches(ReadOnlySpan<byte> text)
    {
        ReadOnlySpan<byte> pattern = _pattern;
        bool ignoreCase = _ignoreCase;
        if (text.IsEmpty)
            return pattern.IsEmpty; // as redis-server: not even a star matches nothing
        int p = _plainBytes, t = p, afterStar = -1, retryAt = 0;
        long tried = 0;
        if (p > 0 && !text.StartsWith(pattern[..p]))
            return false;
        while (t < text.Length)
        {
            if (p < pattern.Length)
            {
                byte expected = pattern[p];
                if (expected == (byte)'*')
                {
                    p = SkipStars(pattern, p);
                    if (p == pattern.Length)
                        return true;
                    (afterStar, retryAt) = (p, t);
                    continue;
                }
                if (IsLiteral(expected))
                {
                    if (Same(expected, text[t], ignoreCase))
                    {
                        p++;
                        t++;
                        continue;
                    }
                }
                else if (MatchesOther(pattern, ref p, text[t]))
                {
                    t++;
                    continue;
                }
            }
            if (afterStar < 0)
                return false;
            tried += t - retryAt;
            if (tried > (long)text.Length * TriesPerByte)
                return MatchesLinearly(text, afterStar, retryAt + 1);
            (p, t) = (afterStar, ++retryAt); // common.G2
        }
        return SkipStars(pattern, p) == pattern.Length;
    }

    // The rest of a text, from a place where the element at p, which follows a star, may match first. common.G2
    private bool MatchesLinearly(ReadOnlySpan<byte> text, int p, int t)
    {
        while (true)
        {
            int end = RunEnd(p, out int elements);
            if (end == _pattern.Length)
                return text.Length - t >= elements && IsRun(p, text[^elements..]);
            t = FindRun(text, t, p, elements);
            p = SkipStars(_pattern, end);
            if (t < 0 || p == _pattern.Length)
                return t >= 0;
            t += elements;
        }
    }

    private bool IsRun(int p, ReadOnlySpan<byte> text)
    {
        foreach (byte value in text)
            if (!MatchesElement(ref p, value))
                return false;
        return true;
    }

    private int FindRun(ReadOnlySpan<byte> text, int t, int p, int elements)
    {
        long left = 256L * elements; // what Find begins with
        for (; t <= text.Length - elements && left > 0; t++)
        {
            int at = p, matched = 0;
            while (matched < elements && MatchesElement(ref at, text[t + matched])) matched++;
            if (matched == elements)
                return t;
            left -= matched + 1;
        }
        return t > text.Length - elements ? -1 : Find(text, t, p, elements);
    }

    // Shift-and (Baeza-Yates and Gonnet 1992): bit i of the state says that the run's first i + 1 elements match what ends here.
    private int Find(ReadOnlySpan<byte> text, int t, int p, int elements)
    {
        int words = (elements + WordBits - 1) / WordBits;
        ulong[] masks = new ulong[256 * words];
        for (int i = 0; i < elements; i++)
        {
            int next = p;
            for (int value = 0; value < 256; value++)
            {
                int at = p;
                if (!MatchesElement(ref at, (byte)value))
                    continue;
                masks[(value * words) + (i / WordBits)] |= 1UL << (i % WordBits);
                next = at;
            }
            p = next == p ? ElementBehind(p) : next; // a class that nothing is in
        }
        Span<ulong> state = stackalloc ulong[words];
        state.Clear();
        ulong whole = 1UL << ((elements - 1) % WordBits);
        for (; t < text.Length; t++)
        {
            ReadOnlySpan<ulong> mask = masks.AsSpan(text[t] * words, words);
            ulong carry = 1;
            for (int word = 0; word < words; word++)
            {
                ulong was = state[word];
                state[word] = ((was << 1) | carry) & mask[word];
                carry = was >> (WordBits - 1);
            }
            if ((state[words - 1] & whole) != 0)
                return t - elements + 1;
        }
        return -1;
    }

    private void RefuseLongRuns()
    {
        for (int p = RunEnd(0, out _); p < _pattern.Length;)
        {
            p = RunEnd(p + 1, out int elements);
            if (p < _pattern.Length && elements > RunMax)
                throw new TooLargeException($"a pattern has more than {RunMax} characters and classes between two stars");
        }
    }

    // The next star, or the pattern's end.
    private int RunEnd(int p, out int elements)
    {
        for (elements = 0; p < _pattern.Length && _pattern[p] != (byte)'*'; elements++) p = ElementBehind(p);
        return p;
    }

    private int ElementBehind(int p) => _shortened && _pattern[p] == Set ? p + 1 + SetBytes : ElementEnd(_pattern, p);

    private bool MatchesElement(ref int p, byte value)
    {
        if (!IsLiteral(_pattern[p]))
            return MatchesOther(_pattern, ref p, value);
        if (!Same(_pattern[p], value, _ignoreCase))
            return false;
        p++;
        return true;
    }

    /// <summary>True if the pattern can match more than one text, so that a plain look-up does not do.</summary>
    public static bool IsPattern(ReadOnlySpan<byte> pattern) => pattern.IndexOfAny("*?[\\"u8) >= 0;

    private static int SkipStars(ReadOnlySpan<byte> pattern, int p)
    {
        while (p < pattern.Length && pattern[p] == (byte)'*') p++;
        return p;
    }

    private static bool IsLiteral(byte expected) => expected is not ((byte)'?' or (byte)'[' or (byte)'\\' or Set);

    /// <summary>Matches one byte against the element at <paramref name="p"/>, which is no plain byte, and moves past the element on success.</summary>
    private bool MatchesOther(ReadOnlySpan<byte> pattern, ref int p, byte value)
    {
        byte expected = pattern[p];
        switch (expected)
        {
            case (byte)'?':
                p++;
                return true;
            case (byte)'[':
                return MatchesClass(pattern, ref p, value, _ignoreCase);
            case Set when _shortened:
                if (_ignoreCase)
                    value = Lower(value);
                if ((pattern[p + 1 + (value >> 3)] >> (value & 7) & 1) == 0)
                    return false;
                p += 1 + SetBytes;
                return true;
            case (byte)'\\' when p + 1 < pattern.Length:
                if (!Same(pattern[p + 1], value, _ignoreCase))
                    return false;
                p += 2;
                return true;
            default:
                if (expected != value)
                    return false; // a bracket that closes nothing, a backslash at the end
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
        if (negated)
            at++;
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
        if (found == negated)
            return false;
        p = Math.Min(at + 1, pattern.Length);
        return true;
    }

    // common.G3
    private static byte[] Shortened(ReadOnlySpan<byte> pattern, bool ignoreCase)
    {
        byte[] to = new byte[checked(pattern.Length + pattern.Count(Set))]; // a class that becomes a set is longer than that
        int length = 0;
        for (int p = 0; p < pattern.Length;)
        {
            int from = p;
            p = ElementEnd(pattern, p);
            if (pattern[from] == (byte)'[' && p - from > 1 + SetBytes)
            {
                to[length++] = Set;
                ReadClass(pattern[from..p], ignoreCase, to.AsSpan(length, SetBytes));
                length += SetBytes;
                continue;
            }
            if (pattern[from] == (byte)'*')
                p = SkipStars(pattern, p);
            if (pattern[from] == Set)
                to[length++] = (byte)'\\';
            ReadOnlySpan<byte> element = pattern[from] == (byte)'*' ? "*"u8 : pattern[from..p];
            element.CopyTo(to.AsSpan(length));
            length += element.Length;
        }
        Array.Resize(ref to, length);
        return to;
    }

    private static int ElementEnd(ReadOnlySpan<byte> pattern, int p)
    {
        if (pattern[p] == (byte)'\\')
            return Math.Min(p + 2, pattern.Length);
        if (pattern[p] != (byte)'[')
            return p + 1;
        int at = p + 1;
        if (at < pattern.Length && pattern[at] == (byte)'^')
            at++;
        while (at < pattern.Length && pattern[at] != (byte)']') at += ItemBytes(pattern, at);
        return Math.Min(at + 1, pattern.Length);
    }

    private static int ItemBytes(ReadOnlySpan<byte> pattern, int at) =>
        pattern[at] == (byte)'\\' && at + 1 < pattern.Length ? 2 : at + 2 < pattern.Length && pattern[at + 1] == (byte)'-' ? 3 : 1;

    /// <summary>Where a range begins one more is counted, behind its end one less.</summary>
    private static void ReadClass(ReadOnlySpan<byte> members, bool ignoreCase, Span<byte> set)
    {
        Span<int> changes = stackalloc int[257];
        changes.Clear();
        bool negated = members[1] == (byte)'^';
        for (int at = negated ? 2 : 1; at < members.Length && members[at] != (byte)']';)
        {
            int bytes = ItemBytes(members, at);
            (byte first, byte last) = bytes == 2 ? (members[at + 1], members[at + 1]) : (members[at], members[at + bytes - 1]);
            if (first > last)
                (first, last) = (last, first);
            if (ignoreCase)
                (first, last) = (Lower(first), Lower(last));
            if (first <= last)
                (changes[first], changes[last + 1]) = (changes[first] + 1, changes[last + 1] - 1);
            at += bytes;
        }
        for (int value = 0, count = 0; value < 256; value++)
            if ((count += changes[value]) > 0 != negated)
                set[value >> 3] |= (byte)(1 << (value & 7));
    }

    private static bool InRange(byte first, byte last, byte value, bool ignoreCase)
    {
        if (first > last)
            (first, last) = (last, first);
        if (ignoreCase)
            (first, last, value) = (Lower(first), Lower(last), Lower(value));
        return value >= first && value <= last;
    }

    private static bool Same(byte a, byte b, bool ignoreCase) => a == b || (ignoreCase && Lower(a) == Lower(b));

    private static byte Lower(byte value) => value is >= (byte)'A' and <= (byte)'Z' ? (byte)(value | 0x20) : value;
}
