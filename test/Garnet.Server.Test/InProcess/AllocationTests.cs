using System.Text;
using Garnet.Aof.Test.Writing;

namespace Garnet.Server.Test.InProcess;

/// <summary>What is asked most often allocates nothing, on a replica too, where reads are checked against what is being applied.</summary>
public sealed unsafe class AllocationTests
{
    private const int Keys = 100, Rounds = 1000, Times = 3, Warm = 100;

    [Test]
    public void A_read_allocates_nothing([Values] bool onReplica, [Values] bool together)
    {
        using var servers = new ReadServers(Keys, hasReplica: true, new ManualClock()); // what is done ten times a second may allocate
        using InProcessClient client = onReplica ? servers.ToReplica() : servers.ToPrimary();
        string[] keys = [.. Enumerable.Range(0, Keys).Select(static i => $"${ReadServers.KeyBytes}\r\n{ReadServers.Key(i)}\r\n")];
        string text = together ? $"*{Keys + 1}\r\n$4\r\nMGET\r\n{string.Concat(keys)}" : string.Concat(keys.Select(static key => "*2\r\n$3\r\nGET\r\n" + key));
        byte[] request = Encoding.ASCII.GetBytes(text);
        fixed (byte* start = request)
        {
            int reply = client.Exchange(start, request.Length);
            Assert.That(reply, Is.GreaterThan(Keys * ReadServers.ValueBytes), "the values came");
            // A key that is looked at for the first time, as one of some hundred commands is, has its name kept: once, by chance, and of MGET the first alone.
            for (int i = 0; i < Warm || servers.Followed(onReplica) < (together ? 1 : Keys); i++) client.Exchange(start, request.Length);
            // What the runtime does once, whenever it likes, is not the reads': they would allocate each time.
            nint at = (nint)start;
            Assert.That(Enumerable.Range(0, Times).Min(_ => Allocated(client, at, request.Length)), Is.Zero);
        }
    }

    private static long Allocated(InProcessClient client, nint start, int bytes)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < Rounds; i++) client.Exchange((byte*)start, bytes);
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    [Test]
    public void A_command_allocates_nothing([Values("SET k v", "GET k", "INCR n", "EXPIRE k 100", "HSET h f v", "HGET h f", "SADD s m", "SISMEMBER s m", "ZADD z 1 m", "ZSCORE z m", "LPUSH l e\nLPOP l", "SET gone v\nDEL gone")] string commands)
    {
        using var servers = new ReadServers(Keys, hasReplica: false, new ManualClock());
        using InProcessClient client = servers.ToPrimary();
        string once = string.Concat(commands.Split('\n').Select(static command => command.Split(' ')).Select(static words => $"*{words.Length}\r\n{string.Concat(words.Select(static word => $"${word.Length}\r\n{word}\r\n"))}"));
        byte[] request = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat(once, Keys)));
        fixed (byte* start = request)
        {
            for (int i = 0; i < Warm; i++) Assert.That(client.Exchange(start, request.Length), Is.GreaterThan(0));
            nint at = (nint)start;
            Assert.That(Enumerable.Range(0, Times).Min(_ => Allocated(client, at, request.Length)), Is.Zero); // as above
        }
    }

    [Test]
    public void A_command_of_a_user_with_few_rights_allocates_nothing(
        [Values("SET k1 v", "GET k1", "MGET k1 k2 k3", "SET k1 v GET", "COPY k1 k2", "PUBLISH c1 x", "SELECT 0", "LPUSH k4 e\nLPOP k4")] string commands)
    {
        using var servers = new ReadServers(Keys, hasReplica: false, new ManualClock());
        using InProcessClient client = servers.ToPrimary();
        client.Exchange("ACL SETUSER ann on nopass +@all -@dangerous ~other* %R~r* ~k* &c* db=0,1 (+get ~*)\r\n");
        client.Exchange("AUTH ann x\r\n");
        string once = string.Concat(commands.Split('\n').Select(static command => command.Split(' ')).Select(static words => $"*{words.Length}\r\n{string.Concat(words.Select(static word => $"${word.Length}\r\n{word}\r\n"))}"));
        byte[] request = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat(once, Keys)));
        fixed (byte* start = request)
        {
            for (int i = 0; i < Warm; i++) Assert.That(client.Exchange(start, request.Length), Is.GreaterThan(0));
            nint at = (nint)start;
            Assert.That(Enumerable.Range(0, Times).Min(_ => Allocated(client, at, request.Length)), Is.Zero);
        }
    }

    // Who goes on writing to a server that refuses it costs no more than who reads.
    [Test]
    public void A_write_that_is_refused_allocates_nothing()
    {
        using var servers = new ReadServers(Keys, hasReplica: true, new ManualClock());
        using InProcessClient client = servers.ToReplica();
        byte[] request = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n", Keys)));
        fixed (byte* start = request)
        {
            int reply = client.Exchange(start, request.Length);
            Assert.That(reply, Is.EqualTo(Keys * "-READONLY You can't write against a read only replica.\r\n".Length));
            for (int i = 0; i < Warm; i++) client.Exchange(start, request.Length);
            nint at = (nint)start;
            Assert.That(Enumerable.Range(0, Times).Min(_ => Allocated(client, at, request.Length)), Is.Zero); // as above
        }
    }
}
