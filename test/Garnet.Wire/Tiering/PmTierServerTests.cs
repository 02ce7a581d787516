using System.Globalization;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Servers with a tier in (what stands for) persistent memory, alone and above a disk: what they say of it, and what they refuse.</summary>
[Parallelizable] // servers of its own
public sealed class PmTierServerTests
{
    private const int Keys = 9_000, PerRound = 10;

    [Test]
    public void Values_are_read_there_and_the_coldest_go_on_to_the_disk_and_all_is_said()
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb", pm: "16mb");
        using DataServer server = new(tier.Flags);
        using RespConnection client = new(server.Process.Address, 60_000);
        Put(client);
        Eventually.Holds(() => client.Tiering("tier_pm_moved_records") > 0);
        CheckAll(client);
        string info = client.Call("INFO", "tiering").Text;
        Assert.That(info, Does.Contain($"tier_pm_path:{tier.MemoryPath}\r\n").And.Contain("tier_pm_domain:pm:").And.Contain("tier_pm_size_bytes:15728640\r\n"));
        Assert.That(client.Tiering("tier_pm_reads") + client.Tiering("tier_ssd_reads"), Is.EqualTo(client.Tiering("tier_reads")));
        Assert.That((client.Tiering("tier_pm_reads") > 0, client.Tiering("tier_ssd_reads") > 0), Is.EqualTo((true, true)));
        string[] places = [.. Enumerable.Range(0, Keys).Select(i => client.Call("TIER.WHERE", "key:" + i).Items![1].Text)];
        Assert.That(places.Distinct(), Is.EquivalentTo((string[])["pm", "tier", "memory"]));
        Assert.That(places.Count(static place => place == "pm"), Is.EqualTo(client.Tiering("tier_pm_cold_records")).Within(Keys / 10), "some move while one looks");
    }

    [Test]
    public void Alone_it_is_a_tier_too_that_nobody_is_put_off_for_and_is_gone_on_with()
    {
        using TierScratch tier = new(memory: "12mb", pm: "64mb");
        using DataServer server = new(tier.FlagsOfMemoryAlone);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Put(client);
            CheckAll(client);
            Assert.That((client.Tiering("tier_pm_reads") > 0, client.Tiering("tier_ssd_reads"), client.Tiering("tier_postponed_commands")), Is.EqualTo((true, 0, 0)));
            client.Call("SET", "k", "value");
            Assert.That(client.Call("TIER.DEMOTE", "k").ToString(), Is.EqualTo(":1"));
            Assert.That(client.Call("TIER.WHERE", "k").Items![1].Text, Is.EqualTo("pm"));
            client.Call("APPEND", "k", "s");
            Assert.That((client.Call("TIER.WHERE", "k").Items![1].Text, client.Call("GET", "k").Text), Is.EqualTo(("memory", "values")));
            client.SaveSnapshot();
        }
        server.Kill();
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        Assert.That(again.Tiering("tier_pm_cold_records"), Is.GreaterThan(Keys / 4));
        CheckAll(again);
    }

    [Test]
    public void One_that_lacks_is_older_or_smaller_is_refused_and_a_repair_goes_on_without()
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb", pm: "32mb");
        using DataServer server = new(tier.Flags);
        string file = "", older = Path.Combine(server.Path, "older"), aside = Path.Combine(server.Path, "aside");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            file = Directory.GetFiles(tier.MemoryPath).Single();
            using (System.Diagnostics.Process copy = System.Diagnostics.Process.Start("cp", [file, older])) copy.WaitForExit(); // whatever lock the server has on it
            Put(client);
            client.SaveSnapshot();
        }
        server.Stop();
        File.Copy(file, aside);
        string withoutMemory = tier.Flags[..tier.Flags.IndexOf(" --tier-pm-path", StringComparison.Ordinal)];
        RefusedStart.Refuses(server, withoutMemory, "Set tier-pm-path to where the file is");
        RefusedStart.Refuses(server, tier.FlagsOfMemoryAlone, "Set tier-path to where the file is");
        RefusedStart.Refuses(server, tier.Flags.Replace("pm-size 32mb", "pm-size 16mb", StringComparison.Ordinal), "Set tier-pm-size to ");
        File.Copy(older, file, overwrite: true);
        RefusedStart.Refuses(server, tier.Flags, "are not those that are named");
        using (FileStream cut = File.OpenWrite(file)) cut.SetLength((3 << 20) + 5000);
        RefusedStart.Refuses(server, tier.Flags, "are not those that are named");
        File.Delete(file);
        RefusedStart.Refuses(server, tier.Flags, "are not those that are named");
        Assert.That(Directory.GetFiles(tier.MemoryPath), Is.Empty, "one that was made anew does not stay");
        (int code, string said) = RefusedStart.Check(server.Path);
        Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
        Assert.That(said, Does.Contain("The tier's file in persistent memory").And.Contain("cannot be read"));
        (code, said) = RefusedStart.RunWith("repair", server.Path);
        Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
        Assert.That(said, Does.Contain("Would begin with the log alone").And.Contain("Nothing would be lost."), "it reaches back to the beginning");
        File.Move(aside, file);
        (code, said) = RefusedStart.Check(server.Path);
        Assert.That((code, said), Is.EqualTo((0, said)));
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        CheckAll(again);
    }

    [Test]
    public void A_directory_with_a_tier_on_a_disk_may_get_one_in_persistent_memory_later()
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb", pm: "16mb");
        string before = tier.Flags[..tier.Flags.IndexOf(" --tier-pm-path", StringComparison.Ordinal)];
        DirectoryInfo data = Directory.CreateTempSubdirectory("garnet-data-");
        try
        {
            _ = Servers.Ours; // skips with the reason when it is not there
            foreach (string flags in (string[])[before, tier.Flags, tier.Flags])
            {
                using ServerProcess server = ServerProcess.TryStartOurs($"--dir {data.FullName} --appendonly yes {flags}")!;
                using RespConnection client = new(server.Address, 60_000);
                if (flags == before) Put(client);
                CheckAll(client);
                if (flags == before) client.SaveSnapshot();
            }
        }
        finally
        {
            data.Delete(recursive: true);
        }
    }

    private static string Value(int i) => string.Create(CultureInfo.InvariantCulture, $"{i}:").PadRight(1500 + (i % 4000), (char)('a' + (i % 26)));

    // Writes that come faster than the tier takes them are refused for a while.
    private static void Put(RespConnection client)
    {
        for (int from = 0; from < Keys; from += PerRound)
        {
            string[] words = ["MSET", .. Enumerable.Range(from, PerRound).SelectMany(static i => new[] { "key:" + i, Value(i) })];
            Eventually.Holds(() => client.Call(words).ToString() == "+OK");
        }
    }

    private static void CheckAll(RespConnection client)
    {
        for (int from = 0; from < Keys; from += PerRound)
        {
            RespNode values = client.Call(["MGET", .. Enumerable.Range(from, PerRound).Select(static i => "key:" + i)]);
            for (int i = 0; i < PerRound; i++) Assert.That(values.Items![i].Text, Is.EqualTo(Value(from + i)));
        }
    }
}
