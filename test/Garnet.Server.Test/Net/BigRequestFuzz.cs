using System.Diagnostics;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Common.Test.Resp;
using Garnet.Server.Clients;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>A command that gathers in memory of its own is the same command as one that is framed at once.</summary>
internal sealed unsafe class BigRequestFuzz
{
    [Test]
    public void A_gathered_command_is_the_one_that_was_sent()
    {
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={FuzzStream.Seed}");
        Random random = new(FuzzStream.Seed);
        FuzzStream streams = new(random);
        RespParser parser = new();
        using ArgList args = new();
        long began = Stopwatch.GetTimestamp();
        int count = 0;
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < FuzzStream.Seconds)
        {
            byte[] bytes = streams.Next();
            RespLimits limits = new() { ArgsMax = RespLimits.DefaultArgsMax, BulkBytesMax = 512L << 20, Unauthenticated = random.Next(4) == 0 };
            string whole = Whole(parser, args, bytes, in limits), gathered = Gathered(parser, args, bytes, random, in limits);
            // A refusal may wait for the few bytes the rest must have at least; a command may not.
            bool late = gathered == nameof(ParseResult.Incomplete) && !whole.Contains(": ", StringComparison.Ordinal);
            if (whole != gathered && !late) Assert.Fail($"GARNET_FUZZ_SEED={FuzzStream.Seed}, stream {count}\nwhole:    {whole}\ngathered: {gathered}");
            count++;
        }
        TestContext.Out.WriteLine($"{count} streams");
    }

    private static string Whole(RespParser parser, ArgList args, byte[] bytes, in RespLimits limits)
    {
        byte[] padded = [.. bytes, .. new byte[RespLimits.ReadableSlack]];
        args.Clear();
        fixed (byte* start = padded)
        {
            ParseResult result = parser.Parse(start, start + bytes.Length, args, in limits);
            return Text(parser, args, result, parser.Position - start);
        }
    }

    private static string Gathered(RespParser parser, ArgList args, byte[] bytes, Random random, in RespLimits limits)
    {
        using BigRequest big = new();
        ParseResult result = ParseResult.Incomplete;
        int partMax = random.Next(1, Math.Max(2, bytes.Length / 4));
        args.Clear();
        for (int at = 0; at < bytes.Length && result == ParseResult.Incomplete;)
        {
            int part = Math.Min(random.Next(1, partMax + 1), bytes.Length - at);
            fixed (byte* from = bytes) big.Append(from + at, part);
            at += part;
            result = big.Parse(parser, args, in limits);
        }
        return Text(parser, args, result, big.CommandEnd - big.Start);
    }

    private static string Text(RespParser parser, ArgList args, ParseResult result, long taken)
    {
        if (result is ParseResult.ProtocolError or ParseResult.Encrypted) return parser.Error;
        if (result != ParseResult.Command) return result == ParseResult.Nothing ? $"nothing, {taken}" : result.ToString();
        StringBuilder text = new($"{taken}: ");
        for (int i = 0; i < parser.ArgCount; i++) text.Append(Encoding.Latin1.GetString(args.Items[parser.FirstArg + i].Span)).Append('|');
        return text.ToString();
    }
}
