using System.Text;
using Garnet.Common.Faults;

namespace Garnet.Common.Test.Bytes;

/// <summary>Cases as redis-server 7.0.15 answers them; GlobDifferentialTests asks one where it is installed.</summary>
public sealed class GlobTests
{
    [TestCase("*", "", false)] // PSUBSCRIBE * does not get what is published to the empty channel; KEYS * asks no glob
    [TestCase("*", "anything", true)]
    [TestCase("", "", true)]
    [TestCase("", "a", false)]
    [TestCase("?", "", false)]
    [TestCase("h?llo", "hello", true)]
    [TestCase("h?llo", "hllo", false)]
    [TestCase("h*llo", "hllo", true)]
    [TestCase("h*llo", "heeeello", true)]
    [TestCase("*a*b*c*", "xxaxxbxxcxx", true)]
    [TestCase("*a*b*c*", "xxaxxcxxbxx", false)]
    [TestCase("a*b?c*d", "aXbYbZcWd", true)]
    [TestCase("h[ae]llo", "hello", true)]
    [TestCase("h[ae]llo", "hillo", false)]
    [TestCase("h[^e]llo", "hallo", true)]
    [TestCase("h[^e]llo", "hello", false)]
    [TestCase("h[a-c]llo", "hbllo", true)]
    [TestCase("h[c-a]llo", "hbllo", true)]
    [TestCase("h[a-c]llo", "hdllo", false)]
    [TestCase("[]a", "a", false)]
    [TestCase("[^]a", "xa", true)]
    [TestCase("[abc", "b", true)]
    [TestCase("[^abc", "b", false)]
    [TestCase("[a-]x", "a", true)]
    [TestCase("[\\]]", "]", true)]
    [TestCase("[\\-a]", "-", true)]
    [TestCase("\\*", "*", true)]
    [TestCase("\\*", "x", false)]
    [TestCase("\\a", "a", true)]
    [TestCase("a\\", "a\\", true)]
    [TestCase("abc", "abcd", false)]
    [TestCase("abc*", "abc", true)]
    public void A_pattern_matches_as_in_redis(string pattern, string text, bool expected)
        => Assert.That(new Glob(Encoding.UTF8.GetBytes(pattern)).Matches(Encoding.UTF8.GetBytes(text)), Is.EqualTo(expected));

    [TestCase("HELLO", "hello")]
    [TestCase("h[A-C]LLO", "HbLLo")]
    [TestCase("[\\X]", "x")]
    public void Case_is_ignored_when_asked(string pattern, string text)
    {
        Assert.That(new Glob(Encoding.UTF8.GetBytes(pattern), ignoreCase: true).Matches(Encoding.UTF8.GetBytes(text)), Is.True);
        Assert.That(new Glob(Encoding.UTF8.GetBytes(pattern)).Matches(Encoding.UTF8.GetBytes(text)), Is.False);
    }

    [Test]
    [CancelAfter(10_000)]
    public void A_million_stars_end_soon()
    {
        byte[] pattern = new byte[2_000_001];
        for (int i = 0; i < pattern.Length; i++) pattern[i] = i % 2 == 0 ? (byte)'a' : (byte)'*';
        pattern[^1] = (byte)'b';
        byte[] text = new byte[1 << 20];
        Array.Fill(text, (byte)'a');
        Assert.That(new Glob(pattern).Matches(text), Is.False);
        Assert.That(new Glob("*a*a*a*a*a*a*a*a*a*a*b"u8.ToArray()).Matches(text), Is.False);
    }

    [Test]
    [CancelAfter(10_000)]
    public void A_long_class_is_read_once()
    {
        byte[] key = new byte[30_000];
        Array.Fill(key, (byte)'a');
        string members = string.Concat(Enumerable.Repeat("b-dxyz\\]", 15_000));
        foreach (string pattern in (string[])[$"*[{members}]", $"*[{members}][{members}]", $"*[^-]{members}]", $"*[a][{members}]z"])
            Assert.That(new Glob(Encoding.ASCII.GetBytes(pattern)).Matches(key), Is.False, pattern[..20]);
    }

    // What a class takes does not depend on how often its members are named.
    [Test]
    public void A_long_class_takes_what_a_short_one_takes([Values] bool ignoreCase)
    {
        var random = new Random(20_261_123);
        string alphabet = "abzAZ019-^\\_";
        for (int round = 0; round < 2_000; round++)
        {
            string members = string.Concat(Enumerable.Range(0, random.Next(1, 9)).Select(_ => alphabet[random.Next(alphabet.Length)])) + "q";
            if (members[0] is '-' or '^' || members.Contains("\\q", StringComparison.Ordinal) || members.Contains("-q", StringComparison.Ordinal)) continue;
            string sign = random.Next(2) == 0 ? "" : "^";
            byte[] shorter = Encoding.ASCII.GetBytes($"[{sign}{members}]"), longer = Encoding.ASCII.GetBytes($"[{sign}{string.Concat(Enumerable.Repeat(members, 60))}]");
            Glob one = new(longer, ignoreCase), other = new(shorter, ignoreCase);
            for (int value = 0; value < 256; value++)
                Assert.That(one.Matches([(byte)value]), Is.EqualTo(other.Matches([(byte)value])), $"{members} {value}");
        }
    }

    // A long pattern is kept in another form: behind a long beginning any pattern is such a one.
    [Test]
    public void A_long_pattern_matches_what_a_short_one_matches([Values] bool ignoreCase)
    {
        var random = new Random(20_261_124);
        const string Alphabet = "abAB[]^-*?\\";
        string beginning = new('x', 70);
        for (int round = 0; round < 20_000; round++)
        {
            string pattern = Draw(12), text = Draw(8);
            Glob shorter = new(Encoding.ASCII.GetBytes("x" + pattern), ignoreCase), longer = new(Encoding.ASCII.GetBytes(beginning + pattern), ignoreCase);
            Assert.That(longer.Matches(Encoding.ASCII.GetBytes(beginning + text)), Is.EqualTo(shorter.Matches(Encoding.ASCII.GetBytes("x" + text))), $"{pattern} {text}");
        }

        string Draw(int most) => string.Concat(Enumerable.Range(0, random.Next(most)).Select(_ => Alphabet[random.Next(Alphabet.Length)]));
    }

    [TestCase("key", false)]
    [TestCase("k*", true)]
    [TestCase("k\\*", true)]
    public void A_plain_name_is_no_pattern(string text, bool expected)
        => Assert.That(Glob.IsPattern(Encoding.UTF8.GetBytes(text)), Is.EqualTo(expected));

    /// <summary>common.G2: a run that nearly matches everywhere, of every kind of element; found where a plain search finds it.</summary>
    [Test]
    public void A_long_run_is_found_where_a_plain_search_finds_it([Range(1, 60)] int seed)
    {
        var random = new Random(seed);
        byte[] text = [.. Enumerable.Range(0, random.Next(2000, 6000)).Select(_ => (byte)(random.Next(400) == 0 ? 'b' : 'a'))];
        var pattern = new StringBuilder("*");
        var runs = new List<bool[][]>();
        for (int from = random.Next(text.Length / 2), run = random.Next(1, 3); run > 0; run--)
        {
            int length = Math.Min(random.Next(60, Glob.RunMax), text.Length - from);
            var elements = new List<bool[]>();
            foreach (byte value in text.AsSpan(from, length))
            {
                char wanted = random.Next(900) == 0 ? 'b' : (char)value;
                string element = random.Next(4) switch { 0 => "?", 1 => "[" + wanted + "c]", 2 => "\\" + wanted, _ => wanted.ToString() };
                pattern.Append(element);
                elements.Add([element == "?" || wanted == 'a', element == "?" || wanted == 'b']);
            }
            runs.Add([.. elements]);
            from += length;
            if (run > 1 || random.Next(2) == 0) pattern.Append('*');
        }
        bool anchored = pattern[^1] != '*';
        int at = 0;
        for (int run = 0; run < runs.Count && at >= 0; run++)
        {
            bool last = anchored && run == runs.Count - 1;
            int first = last ? Math.Max(text.Length - runs[run].Length, 0) : at;
            at = first < at ? -1 : Enumerable.Range(first, last ? 1 : Math.Max(text.Length - runs[run].Length - first + 1, 0)).Cast<int?>()
                .FirstOrDefault(start => runs[run].Select((element, i) => (element, i)).All(one => start + one.i < text.Length && one.element[text[start!.Value + one.i] == 'a' ? 0 : 1])) ?? -1;
            if (at >= 0) at += runs[run].Length;
        }
        Assert.That(new Glob(Encoding.UTF8.GetBytes(pattern.ToString())).Matches(text), Is.EqualTo(at >= 0));
    }

    [TestCase("a")]
    [TestCase("?")]
    [TestCase("[ab]")]
    [CancelAfter(20_000)]
    public void A_run_that_nearly_matches_everywhere_costs_some_steps_a_byte(string element)
    {
        var glob = new Glob(Encoding.UTF8.GetBytes("*" + string.Concat(Enumerable.Repeat(element, Glob.RunMax - 1)) + "b*"));
        byte[] text = new byte[2 << 20];
        Array.Fill(text, (byte)'a');
        Assert.That(glob.Matches(text), Is.False);
        text[^1] = (byte)'b';
        Assert.That(glob.Matches(text), Is.True);
    }

    [Test]
    public void A_run_that_is_too_long_is_refused()
    {
        string run = new('a', Glob.RunMax + 1);
        Assert.That(() => new Glob(Encoding.UTF8.GetBytes("*" + run + "*")), Throws.TypeOf<TooLargeException>());
        Assert.That(new Glob(Encoding.UTF8.GetBytes(run + "*" + run)).Matches(Encoding.UTF8.GetBytes(run + run)), Is.True, "an end of the text is no search");
    }
}
