using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Common.Linux;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Replication;

/// <summary>Full copies of a primary that cannot read a value on its tier: none, rather than one that lacks something.</summary>
public sealed class UnreadableCopyTests
{
    private const int Keys = 2000, KeysOnTier = 600, WaitMs = 60_000, Refused = 3;

    [Test]
    public void A_replica_gets_no_copy_that_lacks_a_value_and_a_whole_one_once_all_can_be_read([Values(true, false)] bool keeps)
    {
        DirectoryInfo directory = Directory.CreateTempSubdirectory("garnet");
        try
        {
            string data = Path.Combine(directory.FullName, "data"), tier = directory.CreateSubdirectory("tier").FullName;
            using (EmbeddedServer server = Primary(data, tier, keeps))
            {
                Fill(server);
            }
            string file = Directory.GetFiles(tier, "tier-*").Single();
            long at = Find(file, "value:50;"u8);
            Put(file, at, (byte)'V');
            using EmbeddedServer primary = Primary(data, tier, keeps);
            primary.Server.Loaded.Await();
            using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
            int begun = 0;
            Assert.That(() => IsUp(replica) ? int.MaxValue : begun = (int)primary.Server.Replication.Links.Full, Is.GreaterThanOrEqualTo(Refused).After(WaitMs, 5));
            Assert.That((IsUp(replica), begun), Is.EqualTo((false, begun)), "no copy without the value");
            using (TestClient client = new(primary.Server.Port))
            {
                string info = client.Call("INFO", "tiering");
                Assert.That(info, Does.Match(@"tier_last_failure:segment \d+, offset \d+: its checksum is wrong").And.Not.Contain("tier_read_failures:0"));
            }
            Put(file, at, (byte)'v');
            Assert.That(() => IsUp(replica), Is.True.After(WaitMs, 5));
            using TestClient reader = new(replica.Server.Port);
            Assert.That(reader.Call("DBSIZE"), Is.EqualTo(Text(Keys)));
            Assert.That(reader.Call("GET", "key:50"), Is.EqualTo(Value(50)));
            ReplicaGroup.AssertSame(primary, replica);
        }
        finally
        {
            directory.Delete(recursive: true);
        }
    }

    private static bool IsUp(EmbeddedServer replica) => replica.Server.Replication.Role.Following is { IsUp: true };

    private static long Find(string path, ReadOnlySpan<byte> text)
    {
        int at = File.ReadAllBytes(path).AsSpan().IndexOf(text);
        Assert.That(at, Is.Positive);
        return at;
    }

    // Beside a server that has the file.
    private static unsafe void Put(string path, long at, byte value)
    {
        fixed (byte* name = System.Text.Encoding.UTF8.GetBytes(path + '\0'))
        {
            int file = Libc.open(name, Libc.O_RDWR | Libc.O_CLOEXEC, 0);
            Assert.That(Libc.pwrite(file, &value, 1, at), Is.EqualTo((nint)1));
            Libc.close(file);
        }
    }

    private static void Fill(EmbeddedServer server)
    {
        server.Server.Loaded.Await();
        using TestClient client = new(server.Server.Port);
        client.Pipeline(1, [.. Enumerable.Range(0, Keys).Select(static i => (string[])["SET", "key:" + Text(i), Value(i)])]);
        client.Pipeline(1, [.. Enumerable.Range(0, KeysOnTier).Select(static i => (string[])["TIER.DEMOTE", "key:" + Text(i)])]);
        Assert.That(client.Call("SAVE"), Is.EqualTo("OK"));
    }

    private static EmbeddedServer Primary(string data, string tier, bool keeps) => new(
        directory: DataDirectory.Open(data, static path => new FileDisk(path)), sync: AppendSync.No, adjust: settings =>
        {
            (settings.Tier.Path, settings.Tier.SizeBytes, settings.Memory.MaxMemoryBytes) = (tier, 16 << 20, 64 << 20);
            settings.Replication.CopyKeepSeconds = keeps ? 60 : 0;
        });

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Value(int i) => ("value:" + Text(i) + ";").PadRight(1500, (char)('a' + (i % 26)));
}
