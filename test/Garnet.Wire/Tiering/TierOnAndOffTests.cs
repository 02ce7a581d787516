using System.Globalization;
using System.Security.Cryptography;
using Garnet.Wire.Persistence;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>One data directory whose tier is left out at a start and there again at the next.</summary>
[Parallelizable] // servers of its own
public sealed class TierOnAndOffTests
{
    private const int Keys = 300;
    private const string WithoutTier = "--maxmemory 64mb";
    private DirectoryInfo _directory = null!;

    [SetUp]
    public void Make() => _directory = Directory.CreateTempSubdirectory("garnet-on-off-");

    [TearDown]
    public void Remove() => _directory.Delete(recursive: true);

    [Test]
    public void Without_the_tier_that_the_newest_snapshot_names_a_start_is_refused_says_what_to_do_and_changes_nothing()
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        Run(tier.Flags, static client =>
        {
            Put(client, 0);
            Demote(client, 0);
            client.SaveSnapshot();
            Put(client, Keys); // the log alone has these
        });
        string[] before = Digests(tier);
        for (int tries = 0; tries < 2; tries++)
        {
            (int code, string said) = RefusedStart.RunWith([.. WithoutTier.Split(' '), "--dir", _directory.FullName, "--port", "0", "--unixsocket", Path.Combine(tier.Path, "socket")]);
            Assert.That((code, said), Is.Not.EqualTo((0, said)));
            Assert.That(said, Does.Contain("Set tier-path to where the tier's file is").And.Contain("REPLICAOF"));
            Assert.That(Digests(tier), Is.EqualTo(before), said);
        }
        Run(tier.Flags, static client =>
        {
            Assert.That(client.Tiering("tier_cold_records"), Is.EqualTo(Keys));
            Check(client, 2 * Keys);
        });
    }

    [TestCase("the log alone has them")]
    [TestCase("they have come back to memory")]
    public void Where_no_snapshot_names_what_lies_there_a_start_goes_on_without_and_with_it_again_and_nothing_is_lost(string why)
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        Run(tier.Flags, client =>
        {
            Put(client, 0);
            Demote(client, 0);
            if (why == "the log alone has them")
                return;
            client.SaveSnapshot();
            for (int i = 0; i < Keys; i++) Assert.That(client.Call("TIER.PROMOTE", Name(i)).ToString(), Is.EqualTo("+OK"));
            client.SaveSnapshot();
        });
        Run(WithoutTier, static client =>
        {
            Check(client, Keys);
            Put(client, Keys);
            client.SaveSnapshot();
            client.Call("SET", Name(0), "changed without");
        });
        Run(tier.Flags, static client =>
        {
            Assert.That(client.Call("GET", Name(0)).Text, Is.EqualTo("changed without"), "not what lay on the tier before");
            client.Call("SET", Name(0), Value(0));
            Check(client, 2 * Keys);
            Demote(client, Keys);
            client.SaveSnapshot();
        });
        Run(tier.Flags, static client =>
        {
            Assert.That(client.Tiering("tier_cold_records"), Is.EqualTo(Keys));
            Check(client, 2 * Keys);
        });
        (int code, string said) = RefusedStart.Check(_directory.FullName);
        Assert.That((code, said), Is.EqualTo((0, said)));
    }

    // What was removed while the server runs lies there for this process only.
    [TestCase("the newest snapshot names it")]
    [TestCase("a snapshot has been tried since")]
    public void A_tier_that_is_removed_while_the_server_runs_is_saved_by_an_orderly_stop(string why)
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        _ = Servers.Ours; // skips with the reason when it is not there
        using (ServerProcess server = Start(tier.Flags))
        {
            using RespConnection client = new(server.Address, 60_000);
            Put(client, 0);
            Demote(client, 0);
            client.SaveSnapshot();
            Put(client, Keys);
            foreach (string file in Directory.GetFiles(tier.Path)) File.Delete(file);
            if (why == "a snapshot has been tried since")
                _ = client.Call("SAVE"); // fails, if the server has not noticed yet
            client.Send(RespConnection.Encode("SHUTDOWN"));
            Assert.That(client.ReadsEnd(60_000), Is.True);
            server.WaitForExit();
        }
        Run(tier.Flags, static client => Check(client, 2 * Keys));
    }

    private ServerProcess Start(string flags) =>
        ServerProcess.TryStartOurs($"{flags} --dir {_directory.FullName} --appendonly yes --appendfsync always")!;

    // Ended by a kill, once all is in the log.
    private void Run(string flags, Action<RespConnection> does)
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        using ServerProcess server = Start(flags);
        using RespConnection client = new(server.Address, 60_000);
        does(client);
    }

    private static void Put(RespConnection client, int from)
    {
        for (int i = from; i < from + Keys; i++) Assert.That(client.Call("SET", Name(i), Value(i)).ToString(), Is.EqualTo("+OK"));
    }

    private static void Demote(RespConnection client, int from)
    {
        for (int i = from; i < from + Keys; i++) Assert.That(client.Call("TIER.DEMOTE", Name(i)).ToString(), Is.EqualTo(":1"));
    }

    private static void Check(RespConnection client, int count)
    {
        for (int i = 0; i < count; i++) Assert.That(client.Call("GET", Name(i)).Text, Is.EqualTo(Value(i)));
        Assert.That(client.Call("DBSIZE").ToString(), Is.EqualTo($":{count}"));
    }

    // Of every file of the data directory and of the tier's, but for the one that says which process has it.
    private string[] Digests(TierScratch tier) => [.. new[] { _directory.FullName, tier.Path }
        .SelectMany(static path => Directory.GetFiles(path, "*", SearchOption.AllDirectories)).Where(static path => Path.GetFileName(path) is not ("lock" or "socket"))
        .Order(StringComparer.Ordinal).Select(static path => $"{path} {Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(path)))}")];

    private static string Name(int i) => string.Create(CultureInfo.InvariantCulture, $"key:{i}");

    private static string Value(int i) => Name(i).PadRight(1500, (char)('a' + (i % 26)));
}
