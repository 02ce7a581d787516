using System.Diagnostics;
using System.Text;
using Garnet.Common.Resp;

namespace Garnet.Common.Test.Resp;

/// <summary>common.P1 and common.P2, the parser's, over random and spoilt streams: same result wherever the bytes are cut, nothing read too far.</summary>
[Platform(Include = "Linux")]
internal sealed unsafe class RespParserFuzz
{
    private const int BytesMax = 1 << 20;

    private readonly GuardedBytes _guarded = new(BytesMax);
    private readonly RespParser _parser = new();
    private readonly ArgList _args = new();

    [OneTimeTearDown]
    public void Free()
    {
        _guarded.Dispose();
        _args.Dispose();
    }

    [Test]
    public void Streams_mean_the_same_wherever_they_are_cut_and_whatever_lies_behind()
    {
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={FuzzStream.Seed}");
        Random random = new(FuzzStream.Seed);
        FuzzStream streams = new(random);
        long began = Stopwatch.GetTimestamp();
        int count = 0;
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < FuzzStream.Seconds)
        {
            byte[] bytes = streams.Next();
            if (bytes.Length > BytesMax) continue;
            RespLimits limits = new() { ArgsMax = RespLimits.DefaultArgsMax, BulkBytesMax = 512L << 20, Unauthenticated = random.Next(4) == 0 };
            string whole = Parse(bytes, bytes.Length, random, in limits);
            // Short streams are cut anywhere, long ones into a hundred parts at most: each part is looked at from the command's start.
            string cut = Parse(bytes, Math.Max(bytes.Length / 50, random.Next(1, 1 + random.Next(1, Math.Max(2, bytes.Length)))), random, in limits);
            if (cut != whole) Assert.Fail($"GARNET_FUZZ_SEED={FuzzStream.Seed}, stream {count}\nwhole: {Short(whole)}\ncut:   {Short(cut)}");
            count++;
        }
        TestContext.Out.WriteLine($"{count} streams");
    }

    /// <summary>What a stream means, when it arrives in parts of at most the given size: each command, and how it ends.</summary>
    private string Parse(byte[] stream, int partMax, Random random, in RespLimits limits)
    {
        StringBuilder meaning = new();
        int from = 0, have = 0;
        long needed = 0;
        while (true)
        {
            byte[] before = stream[from..have];
            byte* start = _guarded.Place(before, (byte)(random.Next(2) == 0 ? '\n' : random.Next(256)));
            _args.Clear();
            ParseResult result = _parser.Parse(start, start + before.Length, _args, in limits);
            if (!new ReadOnlySpan<byte>(start, before.Length).SequenceEqual(before)) Assert.Fail("the parser changed what it read");
            if (result == ParseResult.Incomplete)
            {
                needed = _parser.BytesNeeded;
                if (needed <= before.Length) Assert.Fail("it asks for what it has");
                if (have == stream.Length) return meaning.Append("incomplete").ToString();
                have += Math.Min(random.Next(1, partMax + 1), stream.Length - have);
                continue;
            }
            if (result is ParseResult.ProtocolError or ParseResult.Encrypted) return meaning.Append(_parser.Error).ToString();
            if (result is ParseResult.Foreign) return meaning.Append("foreign").ToString();
            int taken = (int)(_parser.Position - start);
            Assert.That(taken, Is.InRange(1, before.Length));
            if (result == ParseResult.Command) Assert.That(taken, Is.GreaterThanOrEqualTo(needed), "it asked for more than it took");
            Append(meaning, result);
            from += taken;
            needed = 0;
        }
    }

    private void Append(StringBuilder meaning, ParseResult result)
    {
        if (result == ParseResult.Nothing)
        {
            meaning.Append("nothing;");
            return;
        }
        for (int i = 0; i < _parser.ArgCount; i++) meaning.Append(Encoding.Latin1.GetString(_args.Items[_parser.FirstArg + i].Span)).Append('|');
        meaning.Append(';');
    }

    private static string Short(string text) => text.Length > 400 ? text[..200] + " ... " + text[^200..] : text;
}
