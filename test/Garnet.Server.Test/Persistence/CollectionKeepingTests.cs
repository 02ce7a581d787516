using System.Text;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Persistence;

/// <summary>Collections in every form are there again after a restart: from the log, from a snapshot, from both.</summary>
public sealed class CollectionKeepingTests
{
    private const int Databases = 2, CommandsPerRound = 3000;

    [Test]
    public void Content_is_the_same_after_a_restart([Values(0, 200, 1024)] int packedBytes, [Values] bool snapshot)
    {
        var disk = new MemoryDisk();
        var random = new RandomCommands(packedBytes + (snapshot ? 1 : 0)) { Expires = false };
        List<SortedDictionary<string, string>> before;
        using (EmbeddedServer server = Start(disk, packedBytes))
        {
            Run(server, random);
            // The snapshot is taken while what follows is written.
            if (snapshot) Assert.That(server.Send("BGSAVE\r\n", "\r\n"), Does.StartWith("+Background"));
            Run(server, random);
            if (snapshot) Assert.That(server.Send("SAVE\r\n", "\r\n"), Does.StartWith("+OK").Or.StartWith("-ERR"));
            Run(server, random);
            before = Content(server);
        }

        Assert.That(before[0], Is.Not.Empty);
        using EmbeddedServer again = Start(disk, packedBytes);
        List<SortedDictionary<string, string>> after = Content(again);
        for (int database = 0; database < Databases; database++) Assert.That(after[database], Is.EqualTo(before[database]), $"database {database}");
        Assert.That(Tsavorite.StoreCheck.Run(again.Server.Store), Is.Empty);
    }

    private static void Run(EmbeddedServer server, RandomCommands random)
    {
        var text = new StringBuilder("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n");
        for (int i = 0; i < CommandsPerRound; i++) random.AddTo(text);
        text.Append("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n");
        Assert.That(server.Send(text.ToString(), "+OK\r\n"), Is.EqualTo("+OK\r\n"));
    }

    private static List<SortedDictionary<string, string>> Content(EmbeddedServer server) =>
        [.. Enumerable.Range(0, Databases).Select(database => StoreContent.Of(server.Server.Store, server.Server.Store.Namespaces.Id(database)))];

    private static EmbeddedServer Start(MemoryDisk disk, int packedBytes)
    {
        var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always);
        server.Server.Loaded.Await();
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        return server;
    }
}
