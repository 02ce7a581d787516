using System.Net.Sockets;
using System.Text;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Many clients on few collections at once, with expiry, cleaning and snapshots beside them: every rule of the store holds after.</summary>
public sealed class CollectionStressTests
{
    private const int Clients = 4, Rounds = 6, CommandsPerRound = 1500;

    [Test]
    public void Concurrent_clients_leave_a_sound_store([Values(0, 150, 1024)] int packedBytes)
    {
        var disk = new MemoryDisk();
        using var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.No);
        server.Server.Loaded.Await();
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        TestThread[] clients = TestThread.Begin(Clients, seed => Run(server, packedBytes + seed));
        Patience.Until(() =>
        {
            server.Send("BGSAVE\r\nPING\r\n", "+PONG\r\n");
            return !clients.Any(static client => client.IsAlive);
        });
        TestThread.Join(clients);
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
        // Reading everything checks both parts of sorted sets against each other.
        Assert.That(StoreContent.Of(server.Server.Store, server.Server.Store.Namespaces.Id(0)), Is.Not.Empty);
    }

    private static void Run(EmbeddedServer server, int seed)
    {
        var random = new RandomCommands(seed);
        using TcpClient client = server.Connect();
        for (int round = 0; round < Rounds; round++)
        {
            var text = new StringBuilder("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n");
            for (int i = 0; i < CommandsPerRound; i++) random.AddTo(text);
            text.Append("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n");
            EmbeddedServer.Send(client, text.ToString(), "+OK\r\n");
        }
    }
}
