using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication;

/// <summary>FAILOVER: the role goes to a replica without a write being lost and without a full copy.</summary>
public sealed class HandoverTests
{
    private const int WaitMs = 30_000;

    [Test]
    public void The_role_goes_back_and_forth_under_load_and_nothing_is_copied_again()
    {
        using EmbeddedServer left = new();
        using EmbeddedServer right = ReplicaGroup.ReplicaOf(left.Server.Port);
        ReplicaGroup.CatchUp(right, left);
        var written = new HashSet<string>();
        using var stop = new CancellationTokenSource();
        var writer = TestThread.Begin(() => Write([left, right], static number => ["SET", number, "v"], number => { lock (written) written.Add(number); }, stop.Token));
        EmbeddedServer primary = left, replica = right;
        for (int round = 0; round < 6; round++)
        {
            long until = Count(written) + 200;
            Assert.That(() => Count(written), Is.GreaterThan(until).After(WaitMs, 5));
            using (var client = new TestClient(primary.Server.Port)) Assert.That(client.Call("FAILOVER"), Is.EqualTo("OK"));
            Assert.That(() => RoleOf(replica) == "master" && RoleOf(primary) == "slave", Is.True.After(WaitMs, 5));
            (primary, replica) = (replica, primary);
            Assert.That(() => replica.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(WaitMs, 5));
        }
        stop.Cancel();
        writer.Await();
        ReplicaGroup.AssertSame(primary, replica);
        Assert.That(written, Is.SubsetOf(ReplicaGroup.ContentOf(primary).Keys));
        Assert.That(primary.Server.Replication.Position.Term, Is.EqualTo(6 * 64));
        Assert.That(left.Server.Replication.Links.Full + right.Server.Replication.Links.Full, Is.EqualTo(1), "only the first time");
        Assert.That(left.Server.Replication.Adoption.Discards + right.Server.Replication.Adoption.Discards, Is.Zero);
    }

    [Test]
    public void What_was_read_on_one_server_can_be_read_on_the_other_while_the_role_goes_back_and_forth()
    {
        using EmbeddedServer left = new();
        using EmbeddedServer right = ReplicaGroup.ReplicaOf(left.Server.Port);
        ReplicaGroup.CatchUp(right, left);
        using var stop = new CancellationTokenSource();
        long written = 0, read = 0;
        var writer = TestThread.Begin(() => Write([left, right], static number => ["MSET", "a", number, "b", number], _ => Interlocked.Increment(ref written), stop.Token));
        TestThread[] readers = TestThread.Begin(2, seed => ReadPairs([left, right], new Random(seed), ref read, stop.Token));
        EmbeddedServer primary = left, replica = right;
        for (int round = 0; round < 6; round++)
        {
            (long writes, long reads) = (Interlocked.Read(ref written) + 100, Interlocked.Read(ref read) + 100);
            Assert.That(() => Interlocked.Read(ref written) > writes && Interlocked.Read(ref read) > reads, Is.True.After(WaitMs, 5));
            using (var client = new TestClient(primary.Server.Port)) Assert.That(client.Call("FAILOVER"), Is.EqualTo("OK"));
            Assert.That(() => RoleOf(replica) == "master" && RoleOf(primary) == "slave", Is.True.After(WaitMs, 5));
            (primary, replica) = (replica, primary);
        }
        stop.Cancel();
        TestThread.Join([writer, .. readers]);
    }

    [Test]
    public void While_the_replica_lags_writes_wait_and_an_abort_lets_them_through()
    {
        using Lagging lagging = new();
        using TestClient client = new(lagging.Primary.Server.Port), other = new(lagging.Primary.Server.Port);
        client.Call("SET", "k", "1");
        Assert.That(client.Call("FAILOVER"), Is.EqualTo("OK"));
        Assert.That(client.Call("INFO", "replication"), Does.Contain("role:master").And.Contain("master_failover_state:waiting-for-sync"));
        Assert.That(client.Call("FAILOVER"), Is.EqualTo("ERR FAILOVER already in progress."));
        other.Send("SET", "k", "2");
        Assert.That(client.Call("GET", "k"), Is.EqualTo("1"), "reads do not wait");
        Assert.That(client.Call("FAILOVER", "ABORT"), Is.EqualTo("OK"));
        Assert.That(other.Read(), Is.EqualTo("OK"));
        Assert.That(client.Call("INFO", "replication"), Does.Contain("role:master").And.Contain("master_failover_state:no-failover"));
        lagging.Link.Release();
        ReplicaGroup.AssertSame(lagging.Primary, lagging.Replica);
        Assert.That(lagging.Primary.Server.Replication.Links.Full, Is.EqualTo(1));
    }

    [Test]
    public void A_replica_that_does_not_catch_up_in_time_leaves_the_primary_what_it_is()
    {
        using Lagging lagging = new();
        using TestClient client = new(lagging.Primary.Server.Port);
        client.Call("SET", "k", "1");
        Assert.That(client.Call("FAILOVER", "TIMEOUT", "50"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "k", "2"), Is.EqualTo("OK"), "it waited until that was over");
        Assert.That(client.Call("ROLE"), Does.StartWith("[master"));
        lagging.Link.Release();
        ReplicaGroup.AssertSame(lagging.Primary, lagging.Replica);
    }

    [Test]
    public void By_force_a_replica_leads_with_what_it_has()
    {
        using Lagging lagging = new();
        using TestClient client = new(lagging.Primary.Server.Port);
        client.Call("SET", "k", "1");
        Assert.That(client.Call("FAILOVER", "TIMEOUT", "50", "FORCE"), Is.EqualTo("ERR FAILOVER with force option requires both a timeout and target HOST and IP."));
        Assert.That(client.Call("FAILOVER", "TO", "127.0.0.1", "1", "TIMEOUT", "50", "FORCE"), Is.EqualTo("ERR FAILOVER target HOST and PORT is not a replica."));
        Assert.That(client.Call("FAILOVER", "TO", "127.0.0.1", $"{lagging.Replica.Server.Port}", "TIMEOUT", "50", "FORCE"), Is.EqualTo("OK"));
        ReplicaGroup.AwaitRole(lagging.Replica, "master");
        ReplicaGroup.AwaitRole(lagging.Primary, "slave");
        ReplicaGroup.AssertSame(lagging.Replica, lagging.Primary); // nothing has been written in the new term, and it can be waited for
        Assert.That(client.Call("GET", "k"), Is.EqualTo("nil"), "what the replica had not got is gone");
        Assert.That(lagging.Primary.Server.Replication.Adoption.DiscardedWrites, Is.EqualTo(1));
    }

    [Test]
    public void The_replica_that_is_named_leads_and_the_other_one_follows_on()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer one = ReplicaGroup.ReplicaOf(primary.Server.Port), two = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(one, primary);
        ReplicaGroup.CatchUp(two, primary);
        using (var client = new TestClient(primary.Server.Port))
        {
            client.Call("SET", "k", "1");
            Assert.That(client.Call("FAILOVER", "TO", "127.0.0.1", $"{two.Server.Port}"), Is.EqualTo("OK"));
        }
        Assert.That(() => RoleOf(two), Is.EqualTo("master").After(WaitMs, 5));
        using (var client = new TestClient(two.Server.Port)) Assert.That(client.Call("SET", "k", "2"), Is.EqualTo("OK"));
        ReplicaGroup.AssertSame(two, primary, one); // the one through the old primary
        Assert.That(primary.Server.Replication.Links.Full, Is.EqualTo(2), "the first time of each");
        Assert.That(two.Server.Replication.Links.Full, Is.Zero);
    }

    [Test]
    public void A_replica_leads_at_its_own_primarys_word_only()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(replica, primary);
        string at = primary.Server.Replication.Backlog.End.ToString(), id = primary.Server.Replication.RunId;
        using TestClient client = new(replica.Server.Port);
        Assert.That(client.Call("REPL", "LEAD", new string('0', 40), at), Is.EqualTo("ERR this server does not follow the one that asks"));
        Assert.That(client.Call("REPL", "LEAD", id, "1:99:00000000"), Is.EqualTo($"ERR this server is at {at}, not at 1:99:00000000"));
        Assert.That(client.Call("FAILOVER"), Is.EqualTo("ERR FAILOVER is not valid when server is a replica."));
        Assert.That(client.Call("REPL", "LEAD", id, at), Is.EqualTo("OK"));
        Assert.That(client.Call("REPL", "LEAD", id, at), Is.EqualTo("OK"), "the answer may have been lost");
        Assert.That(client.Call("SET", "k", "v"), Is.EqualTo("OK"));
    }

    [Test]
    public void A_primary_that_stops_hands_over_if_it_is_told_to([Values] bool handsOver)
    {
        using EmbeddedServer primary = new(adjust: settings => settings.Replication.HandsOverAtStop = handsOver);
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(replica, primary);
        using (var client = new TestClient(primary.Server.Port))
        {
            for (int i = 0; i < 500; i++) client.Call("SET", $"k{i}", "v");
        }
        primary.Server.Stop(TimeSpan.FromMilliseconds(WaitMs));
        Assert.That(primary.Server.Completion.IsCompleted);
        Assert.That(RoleOf(replica), Is.EqualTo(handsOver ? "master" : "slave"));
        Assert.That(() => ReplicaGroup.ContentOf(replica), Has.Count.EqualTo(500).After(WaitMs, 20), "a stop lets replicas have everything");
    }

    [Test]
    public void A_token_covers_what_was_written_also_while_the_role_is_given_away()
    {
        using Lagging lagging = new();
        using TestClient client = new(lagging.Primary.Server.Port);
        client.Call("SET", "k", "1");
        string token = client.Call("REPL", "TOKEN");
        Assert.That(client.Call("FAILOVER"), Is.EqualTo("OK"));
        Assert.That(() => lagging.Primary.Server.Replication.Log.Leading, Is.Null.After(WaitMs, 5), "its log has ended");
        Assert.That(client.Call("REPL", "TOKEN"), Is.EqualTo(token));
        Assert.That(client.Call("REPL", "WAIT", token, "0"), Is.EqualTo("OK"));
    }

    [Test]
    public void A_primary_names_what_it_wrote_before_it_followed_somebody_it_has_not_heard_of_yet()
    {
        using EmbeddedServer server = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(server.Server.Port);
        ReplicaGroup.CatchUp(replica, server);
        using TestClient client = new(server.Server.Port);
        client.Call("SET", "k", "1");
        string token = client.Call("REPL", "TOKEN");
        Assert.That(client.Call("REPLICAOF", "127.0.0.1", "1"), Is.EqualTo("OK")); // nobody is there
        Assert.That(client.Call("REPL", "TOKEN"), Is.EqualTo(token));
        Assert.That(() => server.Server.Replication.Role.Following, Is.Not.Null.After(WaitMs, 5));
        Assert.That(client.Call("REPL", "TOKEN"), Is.EqualTo(token));
    }

    [Test]
    public void A_replica_that_is_to_lead_shows_and_names_the_last_batch_it_has_applied_until_it_does()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using TestClient writer = new(primary.Server.Port), reader = new(replica.Server.Port), patient = new(replica.Server.Port);
        writer.Call("SET", "k", "1");
        ReplicaGroup.CatchUp(replica, primary);
        string token = reader.Call("REPL", "TOKEN");
        ReplicationNode changing = replica.Server.Replication;
        Assert.That(changing.Applied.TryHold());
        writer.Call("SET", "k", "2");
        ulong last = primary.Server.Replication.Position.Token().Batch;
        primary.Server.Replication.Log.Leading!.Demand(last);
        Assert.That(() => changing.Role.Follower!.Ack().Received, Is.EqualTo(last).After(WaitMs, 5));
        Assert.That(reader.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        Assert.That((changing.Role.IsChanging, changing.IsReplica, changing.Access.ChecksReads), Is.EqualTo((true, false, true)));
        Assert.That(reader.Call("REPL", "TOKEN"), Is.EqualTo(token));
        Assert.That(reader.Call("REPL", "WAIT", $"{token.Split(':')[0]}:{last}", "1"), Does.StartWith("TRYAGAIN"));
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("1"));
        patient.Send("REPL", "BARRIER", "20000");
        changing.Applied.Release();
        Assert.That(patient.Read(), Does.StartWith("64:"), "it waits for the batch that has come");
        Assert.That(reader.Call("SET", "other", "v"), Is.EqualTo("OK"), "it waits until the server leads");
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("2"));
        Assert.That(reader.Call("REPL", "TOKEN"), Does.StartWith("64:"));
    }

    [Test]
    public void Who_gave_its_role_away_and_takes_it_back_unheard_does_not_take_the_others_term()
    {
        using StrangePeer next = new("+OK\r\n"); // the answer of one that leads from now on, and is not seen again
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, settings => settings.Replication.AnnouncePort = next.Port);
        ReplicaGroup.CatchUp(replica, primary);
        using TestClient client = new(primary.Server.Port);
        client.Call("SET", "k", "1");
        Assert.That(client.Call("FAILOVER"), Is.EqualTo("OK"));
        Assert.That(() => client.Call("ROLE"), Does.StartWith("[slave").After(WaitMs, 5));
        Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        client.Call("SET", "k", "2");
        Assert.That(primary.Server.Replication.Position.Term, Is.EqualTo(128), "64 is the other one's");
    }

    private static string RoleOf(EmbeddedServer server)
    {
        using TestClient client = new(server.Server.Port);
        return client.Call("ROLE").Trim('[').Split(' ')[0];
    }

    private static int Count(HashSet<string> written)
    {
        lock (written) return written.Count;
    }

    // One number after the other, to whichever takes it; what is answered with OK must stay.
    private static void Write(EmbeddedServer[] servers, Func<string, string[]> command, Action<string> taken, CancellationToken stop)
    {
        TestClient[] clients = [.. servers.Select(static server => new TestClient(server.Server.Port))];
        for (int number = 1; !stop.IsCancellationRequested;)
        {
            string text = number.ToString(CultureInfo.InvariantCulture);
            if (!Array.Exists(clients, client => client.Call(command(text)) == "OK")) continue; // both are replicas for a moment
            taken(text);
            number++;
        }
        foreach (TestClient client in clients) client.Dispose();
    }

    // Reads on one, takes a token of it there, and reads on one that has what the token covers.
    private static void ReadPairs(EmbeddedServer[] servers, Random random, ref long read, CancellationToken stop)
    {
        TestClient[] clients = [.. servers.Select(static server => new TestClient(server.Server.Port))];
        while (!stop.IsCancellationRequested)
        {
            TestClient here = clients[random.Next(2)], there = clients[random.Next(2)];
            long seen = ReadPair(here);
            string token = here.Call("REPL", "TOKEN"), waited = there.Call("REPL", "WAIT", token, "1000");
            if (waited != "OK")
            {
                Assert.That(waited, Does.StartWith("TRYAGAIN "), token);
                continue;
            }
            long then = ReadPair(there);
            Assert.That(then == -1 || then >= seen, $"{seen} was read, {then} behind {token}");
            if (then >= 0) Interlocked.Increment(ref read);
        }
        foreach (TestClient client in clients) client.Dispose();
    }

    // -1 if the server did not answer in time.
    private static long ReadPair(TestClient client)
    {
        string reply = client.Call("MGET", "a", "b");
        if (reply.StartsWith("TRYAGAIN ", StringComparison.Ordinal)) return -1;
        string[] pair = reply.Trim('[', ']').Split(' ');
        Assert.That(pair[0], Is.EqualTo(pair[1]), "of one batch");
        return pair[0] == "nil" ? 0 : long.Parse(pair[0], CultureInfo.InvariantCulture);
    }

    /// <summary>A primary and a replica that has caught up and from now on gets nothing.</summary>
    private sealed class Lagging : IDisposable
    {
        public Lagging()
        {
            Link = new HeldProxy(Primary.Server.Port);
            Replica = ReplicaGroup.ReplicaOf(Link.Port);
            ReplicaGroup.CatchUp(Replica, Primary);
            Link.Hold();
        }

        public EmbeddedServer Primary { get; } = new();

        public HeldProxy Link { get; }

        public EmbeddedServer Replica { get; }

        public void Dispose()
        {
            Replica.Dispose();
            Link.Dispose();
            Primary.Dispose();
        }
    }
}
