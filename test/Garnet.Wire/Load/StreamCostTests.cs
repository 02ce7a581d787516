using System.Globalization;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Load;

/// <summary>What streams cost, beside the reference in the same run: memory per entry of five fields, CPU time to add and to read them.</summary>
[TestFixture, NonParallelizable]
internal sealed class StreamCostTests
{
    private const int Batch = 500, ReadAtOnce = 100, GateEntries = 300_000, MeasuredEntries = 1_000_000;
    private const double GateRatio = 0.75; // memory is taken in larger steps than entries: with more of them it comes to 0.65 and less

    /// <summary>Readings of a sensor: a name of many, numbers, a time, one of few words.</summary>
    private static string[] Reading(Random random, int i) =>
    [
        "sensor", "s-" + Text(1000 + random.Next(500)), "temperature", (random.Next(-2000, 4500) / 100.0).ToString("F2", CultureInfo.InvariantCulture),
        "humidity", Text(random.Next(100)), "at", (1_700_000_000_000 + (i * 37L)).ToString(CultureInfo.InvariantCulture), "status", random.Next(5) == 0 ? "low-battery" : "ok",
    ];

    /// <summary>Ten random letters and digits in each field: what packs worst of what clients send as text.</summary>
    private static string[] Letters(Random random, int i)
    {
        const string Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        return [.. Enumerable.Range(0, 5).SelectMany(field => (string[])["field" + Text(field), new string(random.GetItems<char>(Alphabet, 10))])];
    }

    [LongCase("reading")]
    [TestCase("letters")]
    public void An_entry_takes_clearly_less_than_in_the_reference(string kind)
    {
        double reference = Fill(ServerSide.Redis, kind, GateEntries).Bytes, ours = Fill(ServerSide.Ours, kind, GateEntries).Bytes;
        TestContext.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{kind}: {ours:F1} bytes an entry, reference {reference:F1}"));
        Assert.That(ours / reference, Is.LessThan(GateRatio));
    }

    [Test, Explicit("measures")]
    public void Measure([Values("reading", "letters")] string kind)
    {
        foreach (ServerSide side in (ServerSide[])[ServerSide.Redis, ServerSide.Ours])
        {
            (double bytes, double addUs, double readUs) = Fill(side, kind, MeasuredEntries);
            TestContext.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"| {kind} | {side} | {bytes:F1} | {addUs:F2} | {readUs:F2} |"));
        }
    }

    private static (double Bytes, double AddUs, double ReadUs) Fill(ServerSide side, string kind, int entries)
    {
        using RespConnection client = new(Servers.Of(side).Address);
        client.Call("FLUSHALL");
        client.Call("XADD", "warm", "*", "f", "v");
        Random random = new(5);
        double memory = InfoFigures.Memory(client), began = InfoFigures.Cpu(client);
        for (int i = 0; i < entries; i += Batch)
        {
            client.Send([.. Enumerable.Range(i, Batch).SelectMany(n => RespConnection.Encode(["XADD", "s", "*", .. kind == "reading" ? Reading(random, n) : Letters(random, n)]))]);
            for (int n = 0; n < Batch; n++) client.Read();
        }
        double added = InfoFigures.Cpu(client), bytes = (InfoFigures.Memory(client) - memory) / entries;
        string last = "0";
        for (int i = 0; i < entries; i += ReadAtOnce)
            last = client.Call("XREAD", "COUNT", Text(ReadAtOnce), "STREAMS", "s", last).Items![0].Items![1].Items![^1].Items![0].Text;
        return (bytes, (added - began) * 1e6 / entries, (InfoFigures.Cpu(client) - added) * 1e6 / entries);
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
