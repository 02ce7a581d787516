using System.Globalization;
using Garnet.Wire.Persistence;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>What <c>garnet-server check</c> says of a directory whose tier has two files: what lies in each, what cannot be read, and what to do next.</summary>
[Parallelizable] // servers of its own
public sealed class TierCheckTests
{
    private const int Short = 300, Long = 5, LongBytes = 2_000_000;

    [Test]
    public void It_says_what_lies_in_each_file_what_cannot_be_read_and_what_to_do()
    {
        using TierScratch tier = new(memory: "64mb", size: "64mb", pm: "16mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            for (int i = 0; i < Short; i++) Cold(client, Name(i), Name(i).PadRight(1500, 'v'), "pm");
            for (int i = 0; i < Long; i++) Cold(client, "long" + i, $"long{i}-first".PadRight(LongBytes, 'v'), "tier"); // too long for a segment: it goes past persistent memory
            client.SaveSnapshot();
        }
        server.Stop();
        (int code, string said) = RefusedStart.Check(server.Path);
        Assert.That((code, said), Is.EqualTo((0, said)));
        Assert.That(said, Does.Match($@"sound, {Short + Long} records \({Short + Long} of them on the tier, in 1\d segments: "
            + $@"{Short} in \d of its file in persistent memory, {Long} in {2 * Long} of its file on the disk\)").And.Contain("The directory is sound.").And.Contain("Its tier was read where its server had it: /"));
        tier.Harm("long3-first");
        (code, said) = RefusedStart.Check(server.Path);
        Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
        Assert.That(said, Does.Match(@"DAMAGED +snapshot-\d+\.snap: 1 record on the tier cannot be read: segment \d+ \(1 of 1\)")
            .And.Contain("Put the tier's file back from a copy of the same moment").And.Contain($"garnet-server repair {server.Path}"));
    }

    private static void Cold(RespConnection client, string key, string value, string where)
    {
        client.Call("SET", key, value);
        Assert.That(client.Call("TIER.DEMOTE", key).ToString(), Is.EqualTo(":1"));
        Assert.That(client.Call("TIER.WHERE", key).ToString(), Does.Contain($"\"{where}\""));
    }

    private static string Name(int i) => string.Create(CultureInfo.InvariantCulture, $"short:{i}:");
}
