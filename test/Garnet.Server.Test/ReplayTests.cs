using System.Globalization;
using System.Text;
using Garnet.Common.Test;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>What the write log says is enough to build the same content again, for every operation there is.</summary>
public sealed class ReplayTests
{
    private const int CommandsPerRound = 5_000, Rounds = 4, Databases = 2, TightBytes = 8 << 20, BallastKeys = 2_000, BallastBytesMax = 10_000, MovesOfRun = 150, CommandsPerMove = 40, MovesPerCheck = 10;

    private static readonly int s_roundsWithoutMemory = LongRun.IsWanted ? Rounds : Rounds / 2;

    [Test]
    public void A_replayed_log_gives_the_same_content([ValueSource(typeof(LongRun), nameof(LongRun.Seeds))] int seed, [Values(0, 200, 1024)] int packedBytes)
    {
        var log = new RecordingLog();
        using var server = new EmbeddedServer(log);
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        var random = new RandomCommands(seed);
        var seen = new HashSet<byte>();
        for (int round = 0; round < Rounds; round++)
        {
            Run(server, random);
            List<LogEntry> entries = StillContent(server.Server.Store, log, out List<SortedDictionary<string, string>> content);
            Assert.That(content.Sum(static keys => keys.Count), Is.Positive);
            using var copy = new Store(new StoreSettings { BackgroundMovers = false });
            Replay(entries, copy);
            seen.UnionWith(entries.Where(static entry => entry.Database != LogEntry.Control).Select(static entry => entry.OpId));
            for (int database = 0; database < Databases; database++)
                Assert.That(StoreContent.Of(copy, copy.Namespaces.Id(database)), Is.EqualTo(content[database]), $"database {database} after round {round}");
        }

        ReplayTable table = CommandFamilies.Replay();
        Assert.That(Enumerable.Range(0, 256).Where(id => table.Knows((byte)id)), Is.EquivalentTo(seen.Select(static id => (int)id)), "every operation was driven");
    }

    // A short run takes half of the seeds with each, others with the one than with the other.
    private static IEnumerable<object[]> SeedsWithoutMemory() =>
        from packedBytes in new[] { 0, 1024 }
        from seed in LongRun.PartOf([1, 2, 3, 4], every: 2, first: packedBytes == 0 ? 0 : 1)
        select new object[] { seed, packedBytes };

    /// <summary>
    /// Where a change finds no memory midway, the log says what was done. Values that come and go keep the store at its limit.
    /// </summary>
    [TestCaseSource(nameof(SeedsWithoutMemory))]
    public void What_is_logged_without_memory_is_what_was_done(int seed, int packedBytes)
    {
        var log = new RecordingLog();
        using var server = new EmbeddedServer(log, adjust: static settings => settings.Memory.MaxMemoryBytes = TightBytes);
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        var random = new RandomCommands(seed);
        for (int round = 0; round < s_roundsWithoutMemory; round++)
        {
            Run(server, random, new Random(seed + round));
            List<LogEntry> entries = StillContent(server.Server.Store, log, out List<SortedDictionary<string, string>> content);
            using var copy = new Store(new StoreSettings { BackgroundMovers = false });
            Replay(entries, copy);
            for (int database = 0; database < Databases; database++)
                Assert.That(StoreContent.Of(copy, copy.Namespaces.Id(database)), Is.EqualTo(content[database]), $"database {database} after round {round}");
            Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
        }

        Assert.That(server.Send("*2\r\n$4\r\nINFO\r\n$10\r\nerrorstats\r\n", "\r\n\r\n"), Does.Contain("errorstat_OOM"));
    }

    /// <summary>What comes back from a tier leaves again without a write unless it has changed: no command may change a value and not say so (store.C13).</summary>
    [Test]
    public void Keys_that_go_to_a_tier_and_come_back_between_all_commands_hold_what_the_log_says([ValueSource(typeof(LongRun), nameof(LongRun.Seeds))] int seed, [Values(0, 1024)] int packedBytes)
    {
        DirectoryInfo path = Directory.CreateTempSubdirectory("garnet-moved");
        try
        {
            var log = new RecordingLog();
            using var server = new EmbeddedServer(log, adjust: settings => (settings.Tier.Path, settings.Tier.SizeBytes) = (path.FullName, 128 << 20));
            server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
            var random = new RandomCommands(seed);
            var moves = new Random(seed);
            for (int moved = 0; moved < MovesOfRun; moved++)
            {
                Run(server, random, commands: CommandsPerMove);
                if (moved % MovesPerCheck == 0) Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty, "what was changed is not taken for what it was");
                Move(server, moves);
            }

            List<LogEntry> entries = StillContent(server.Server.Store, log, out List<SortedDictionary<string, string>> content);
            using var copy = new Store(new StoreSettings { BackgroundMovers = false });
            Replay(entries, copy);
            for (int database = 0; database < Databases; database++)
                Assert.That(StoreContent.Of(copy, copy.Namespaces.Id(database)), Is.EqualTo(content[database]), $"database {database}");
            TierFigures tier = server.Server.Store.Figures().Tier!;
            TestContext.Out.WriteLine($"demoted {tier.Demoted}, of these {tier.DemotedClean} without a write, promoted {tier.Promoted}, returned {tier.Returned}");
            Assert.That((tier.Demoted > 1000, tier.DemotedClean > 200), Is.EqualTo((true, true)));
        }
        finally
        {
            path.Delete(recursive: true);
        }
    }

    // All go there, and some of them come back.
    private static void Move(EmbeddedServer server, Random random)
    {
        var text = new StringBuilder("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n");
        foreach (string command in (string[])["TIER.DEMOTE", "TIER.PROMOTE"])
        {
            foreach (string key in RandomCommands.AllKeys)
            {
                if (command == "TIER.DEMOTE" || random.Next(2) == 0)
                    text.Append(CultureInfo.InvariantCulture, $"*2\r\n${command.Length}\r\n{command}\r\n${key.Length}\r\n{key}\r\n");
            }
        }

        text.Append("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n");
        Assert.That(server.Send(text.ToString(), "+OK\r\n"), Is.EqualTo("+OK\r\n"));
    }

    private static void Run(EmbeddedServer server, RandomCommands random, Random? ballast = null, int commands = CommandsPerRound)
    {
        var text = new StringBuilder("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n");
        for (int i = 0; i < commands; i++)
        {
            for (int j = ballast?.Next(4) ?? 0; j > 0; j--) AddBallast(text, ballast!);
            random.AddTo(text);
        }

        text.Append("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n");
        Assert.That(server.Send(text.ToString(), "+OK\r\n"), Is.EqualTo("+OK\r\n"));
    }

    private static void AddBallast(StringBuilder text, Random random)
    {
        string key = $"ballast:{random.Next(BallastKeys)}";
        string value = new('b', random.Next(1, BallastBytesMax));
        string[] words = random.Next(5) == 0 ? ["DEL", key] : ["SET", key, value];
        text.Append(CultureInfo.InvariantCulture, $"*{words.Length}\r\n");
        foreach (string word in words) text.Append(CultureInfo.InvariantCulture, $"${word.Length}\r\n{word}\r\n");
    }

    // Keys expire in the background: log and content belong together when nothing was logged while the content was read.
    private static List<LogEntry> StillContent(Store store, RecordingLog log, out List<SortedDictionary<string, string>> content)
    {
        while (true)
        {
            int before = log.Count;
            content = [.. Enumerable.Range(0, Databases).Select(database => StoreContent.Of(store, store.Namespaces.Id(database)))];
            List<LogEntry> entries = log.Entries();
            if (entries.Count == before) return entries;
        }
    }

    private static void Replay(List<LogEntry> entries, Store store)
    {
        ReplayTable table = CommandFamilies.Replay();
        using StoreSession session = store.OpenSession(); // its clock stands at 0: a replica expires nothing by itself
        foreach (LogEntry entry in entries)
            Assert.That(entry.Apply(table, store, session), Is.True, $"operation {entry.OpId} was refused");
    }
}
