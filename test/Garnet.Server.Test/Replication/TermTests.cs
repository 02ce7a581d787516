using System.Globalization;
using System.Text;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Replication;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication;

/// <summary>Terms (replication.Z8): what a primary wrote and lost has another name than what it writes when it is back.</summary>
public sealed class TermTests
{
    private const int Lost = 20, WaitMs = 20_000;

    [Test]
    public void A_primary_that_comes_back_without_the_end_of_its_log_is_in_a_later_term([Values(0, 5)] int kept)
    {
        var disk = new MemoryDisk();
        using var replica = new EmbeddedServer();
        MemoryDisk left;
        string token;
        uint before;
        using (EmbeddedServer primary = Start(disk))
        {
            before = primary.Server.Replication.Position.Term;
            Write(primary, "kept", kept);
            Follow(replica, primary);
            Assert.That(() => primary.Server.Replication.Log.OnDisk!.Durable, Is.GreaterThanOrEqualTo(replica.Server.Replication.Applied.Number).After(WaitMs, 5));
            left = CopyOf(disk); // all that the replica was given as a copy: what came behind it can be told apart
            token = Write(primary, "lost", Lost);
            ReplicaGroup.CatchUp(replica, primary);
        }
        using EmbeddedServer again = Start(left);
        Assert.That(again.Server.Replication.Position.Term, Is.GreaterThan(before));
        Write(again, "new", 2 * Lost); // the numbers of what was lost are taken
        using (var client = new TestClient(again.Server.Port))
            Assert.That(client.Call("REPL", "WAIT", token, "0"), Does.StartWith("STALETOKEN"), "what it covers is gone");
        Follow(replica, again);
        ReplicaGroup.AssertSame(again, replica);
        Assert.That(ReplicaGroup.ContentOf(replica), Has.Count.EqualTo(kept + (2 * Lost)));
        Assert.That(replica.Server.Replication.Adoption.DiscardedWrites, Is.EqualTo(Lost), "and nobody had to guess how much that was");
        Assert.That(again.Server.Replication.Links.Divergences, Is.Zero);
    }

    [Test]
    public void A_token_of_another_servers_first_term_is_worth_nothing_after_a_restart_either()
    {
        var disk = new MemoryDisk();
        using EmbeddedServer other = Start(new MemoryDisk());
        string token = Write(other, "theirs", Lost);
        using (EmbeddedServer server = Start(disk)) Write(server, "ours", 2 * Lost);
        using EmbeddedServer again = Start(disk);
        using var client = new TestClient(again.Server.Port);
        Assert.That(client.Call("REPL", "WAIT", token, "0"), Does.StartWith("STALETOKEN"));
    }

    [Test]
    public void A_token_of_what_an_old_primary_lost_is_refused_by_all_and_one_of_what_it_handed_on_is_not()
    {
        using EmbeddedServer old = new(), next = new(), third = new();
        Follow(next, old);
        Follow(third, old);
        string kept = Write(old, "kept", 5);
        ReplicaGroup.CatchUp(next, old);
        ReplicaGroup.CatchUp(third, old);
        using (var client = new TestClient(next.Server.Port)) Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        using (var client = new TestClient(third.Server.Port)) client.Call("REPLICAOF", "127.0.0.1", "1"); // nobody is there: what follows does not reach it
        string lost = Write(old, "lost", Lost);
        Write(next, "new", 2 * Lost); // beyond the number that the lost token names
        Follow(third, next);
        Follow(old, next);
        foreach (EmbeddedServer server in (EmbeddedServer[])[next, third, old])
        {
            using var client = new TestClient(server.Server.Port);
            Assert.That(client.Call("REPL", "WAIT", lost, "0"), Does.StartWith("STALETOKEN"));
            Assert.That(client.Call("REPL", "WAIT", kept, "5000"), Is.EqualTo("OK"));
        }
        Assert.That(next.Server.Replication.Links.Partial, Is.EqualTo(1), "the third went on where it was, the old one could not");
    }

    [Test]
    public void Every_start_as_a_primary_is_a_term_and_a_replica_goes_on_over_it()
    {
        var disk = new MemoryDisk();
        using var replica = new EmbeddedServer();
        for (uint life = 1; life <= 4; life++)
        {
            using EmbeddedServer primary = Start(disk);
            Assert.That(primary.Server.Replication.Position.Term, Is.EqualTo(life));
            Follow(replica, primary);
            Write(primary, $"life{life}.", 3);
            ReplicaGroup.AssertSame(primary, replica);
            Assert.That(primary.Server.Replication.Links.Full, Is.EqualTo(life == 1 ? 1 : 0), "only the first time");
        }
        Assert.That(replica.Server.Replication.Adoption.Discards, Is.Zero);
    }

    [Test]
    public void A_primary_that_was_started_again_knows_where_an_old_one_left_its_history()
    {
        MemoryDisk disk = new(), nextDisk = new();
        using EmbeddedServer old = Start(disk);
        string kept = LeaveBehind(old, nextDisk, saves: false);
        Write(old, "lost", Lost);
        using EmbeddedServer again = Start(nextDisk);
        Write(again, "newer", 2 * Lost); // beyond all that the old one has
        using (var client = new TestClient(again.Server.Port)) Assert.That(client.Call("REPL", "WAIT", kept, "5000"), Is.EqualTo("OK"), "two terms ago, and kept");
        Follow(old, again);
        ReplicaGroup.AssertSame(again, old);
        Assert.That(old.Server.Replication.Adoption.DiscardedWrites, Is.EqualTo(Lost));
        Assert.That(disk.List().Where(static name => name.EndsWith(OrphanFile.Suffix, StringComparison.Ordinal)), Has.One.Items, "they are kept");
    }

    [Test]
    public void Also_when_nothing_is_left_of_the_log_in_which_the_old_one_left()
    {
        MemoryDisk disk = new(), nextDisk = new();
        using EmbeddedServer old = Start(disk);
        string kept = LeaveBehind(old, nextDisk, saves: true);
        using (EmbeddedServer between = Start(nextDisk))
        {
            Write(between, "between", 3);
            Save(between);
        }
        Write(old, "lost", Lost);
        using EmbeddedServer again = Start(nextDisk);
        Write(again, "newer", 2 * Lost);
        using (var client = new TestClient(again.Server.Port)) Assert.That(client.Call("REPL", "WAIT", kept, "5000"), Is.EqualTo("OK"), "three terms ago, and kept");
        Follow(old, again);
        ReplicaGroup.AssertSame(again, old);
        Assert.That(old.Server.Replication.Adoption.DiscardedWrites, Is.EqualTo(Lost), "the manifest remembers where term 64 began");
    }

    [Test]
    public void Where_histories_part_is_not_guessed()
    {
        var terms = new Terms();
        LogPosition end = At(65, 300);
        terms.Add(new TermStart(65, 200, 64));
        Assert.That(terms.ForkOf(At(64, 250), end), Is.EqualTo(199));
        Assert.That(terms.ForkOf(At(1, 120), end), Is.EqualTo(ulong.MaxValue), "when term 64 began nobody knows any more");
        terms.Take([new TermStart(64, 91, 1), new TermStart(65, 200, 64)]);
        terms.Add(new TermStart(65, 200, 64)); // its first batch comes, of which the plan had told
        Assert.That(terms.Known, Has.Count.EqualTo(2));
        Assert.That(terms.ForkOf(At(1, 120), end), Is.EqualTo(90));
        Assert.That(terms.ForkOf(At(2, 120), end), Is.EqualTo(90), "an old primary that was started again wrote in it");
        Assert.That((terms.LastOf(1), terms.LastOf(64), terms.LastOf(2)), Is.EqualTo(((ulong?)90, (ulong?)199, (ulong?)null)));
    }

    [Test]
    public void Who_wrote_to_a_longer_history_is_answered_when_a_shorter_one_takes_its_place()
    {
        using EmbeddedServer longer = Start(new MemoryDisk(), AppendSync.Everysec), shorter = Start(new MemoryDisk(), AppendSync.Everysec);
        Write(shorter, "shorter", 1);
        using TestClient writer = new(longer.Server.Port), other = new(longer.Server.Port);
        for (int i = 0; i < 20; i++) Assert.That(writer.Call("SET", "k", "v"), Is.EqualTo("OK"));
        Follow(longer, shorter);
        Assert.That(() => other.Call("EXISTS", "shorter0"), Is.EqualTo("1").After(WaitMs, 5));
        Assert.That(writer.Call("EXISTS", "shorter0"), Is.EqualTo("1"));
    }

    // A replica of it is promoted and writes, and is gone; returns a token of what both have.
    [Test]
    public void A_token_of_one_promoted_replica_is_no_good_on_another_of_the_same_term()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer one = ReplicaGroup.ReplicaOf(primary.Server.Port), two = ReplicaGroup.ReplicaOf(primary.Server.Port), third = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using TestClient writer = new(primary.Server.Port), first = new(one.Server.Port), second = new(two.Server.Port), reader = new(third.Server.Port);
        writer.Call("SET", "k", "1");
        string before = writer.Call("REPL", "TOKEN");
        foreach (EmbeddedServer replica in (EmbeddedServer[])[one, two, third]) ReplicaGroup.CatchUp(replica, primary);
        foreach (TestClient client in (TestClient[])[first, second])
        {
            client.Call("REPLICAOF", "NO", "ONE");
            client.Call("SET", "k", "2");
        }
        Assert.That((one.Server.Replication.Position.Term, two.Server.Replication.Position.Term), Is.EqualTo((64u, 64u)), "nobody grants terms");
        string token = first.Call("REPL", "TOKEN");
        Assert.That(first.Call("REPL", "WAIT", token, "1000"), Is.EqualTo("OK"));
        Assert.That(second.Call("REPL", "WAIT", token, "0"), Does.StartWith("STALETOKEN"));
        Assert.That(second.Call("REPL", "WAIT", before, "0"), Is.EqualTo("OK"), "of the primary both had");
        Assert.That(second.Call("REPL", "WAIT", token[..token.LastIndexOf(':')], "0"), Is.EqualTo("OK"), "without its owner it says less");
        reader.Call("REPLICAOF", "127.0.0.1", two.Server.Port.ToString(System.Globalization.CultureInfo.InvariantCulture));
        ReplicaGroup.CatchUp(third, two);
        Assert.That(reader.Call("REPL", "WAIT", token, "0"), Does.StartWith("STALETOKEN"), "who follows knows too");
        Assert.That(reader.Call("REPL", "WAIT", second.Call("REPL", "TOKEN"), "1000"), Is.EqualTo("OK"));
    }

    private static string LeaveBehind(EmbeddedServer old, MemoryDisk nextDisk, bool saves)
    {
        string kept = Write(old, "kept", 5);
        using EmbeddedServer next = Start(nextDisk);
        Follow(next, old);
        using (var client = new TestClient(next.Server.Port)) Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        Write(next, "new", 3);
        if (saves) Save(next);
        return kept;
    }

    private static LogPosition At(uint term, ulong batch) => new(term, batch, [7]);

    [Test]
    public void What_an_old_primary_gives_up_is_kept_in_a_file_and_of_such_files_the_newest_stay()
    {
        var disk = new MemoryDisk();
        using EmbeddedServer old = Start(disk), next = new();
        Write(old, "shared", 3);
        Follow(next, old);
        string[] orphans = [];
        for (int round = 0; round <= OrphanFile.FilesMax; round++)
        {
            using TestClient primary = new(old.Server.Port), replica = new(next.Server.Port);
            Assert.That(replica.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
            Write(next, "new", 1);
            Write(old, $"own{round}.", 5);
            Follow(old, next);
            ReplicaGroup.AssertSame(next, old);
            orphans = [.. disk.List().Where(static name => name.EndsWith(OrphanFile.Suffix, StringComparison.Ordinal)).Order(StringComparer.Ordinal)];
            Assert.That(orphans, Has.Length.EqualTo(Math.Min(round + 1, OrphanFile.FilesMax)));
            byte[] bytes = disk.Bytes(orphans[^1]);
            Assert.That(FileHeader.TryRead(bytes, out FileHeader header), Is.EqualTo(HeaderState.Whole));
            Assert.That(orphans[^1], Does.Contain($"-batches-{header.FirstBatch}-"));
            for (int i = 0; i < 5; i++) Assert.That(bytes.AsSpan().IndexOf(Encoding.ASCII.GetBytes($"own{round}.{i}")), Is.Positive);
            Assert.That(bytes.AsSpan().IndexOf("shared"u8), Is.Negative, "what both had is not in it");
            Assert.That(replica.Call("FAILOVER"), Is.EqualTo("OK"));
            Assert.That(() => primary.Call("ROLE").StartsWith("[master", StringComparison.Ordinal) && replica.Call("ROLE").StartsWith("[slave", StringComparison.Ordinal), Is.True.After(WaitMs, 5));
            ReplicaGroup.CatchUp(next, old);
        }
        Assert.That(orphans[0], Does.StartWith("000002-"), "the first had to go");
        Assert.That(old.Server.Replication.Adoption.DiscardedWrites, Is.EqualTo(5 * (OrphanFile.FilesMax + 1)));
    }

    private static EmbeddedServer Start(MemoryDisk disk, AppendSync sync = AppendSync.Always)
    {
        var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: sync);
        server.Server.Loaded.Await();
        return server;
    }

    private static void Follow(EmbeddedServer replica, EmbeddedServer primary)
    {
        using var client = new TestClient(replica.Server.Port);
        Assert.That(client.Call("REPLICAOF", "127.0.0.1", primary.Server.Port.ToString(CultureInfo.InvariantCulture)), Is.EqualTo("OK"));
        ReplicaGroup.CatchUp(replica, primary);
    }

    // Each in a batch of its own; returns a token that covers them.
    private static string Write(EmbeddedServer server, string name, int count)
    {
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < count; i++) Assert.That(client.Call("SET", $"{name}{i}", "v"), Is.EqualTo("OK"));
        return client.Call("REPL", "TOKEN");
    }

    private static void Save(EmbeddedServer server)
    {
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("SAVE"), Is.EqualTo("OK"));
    }

    private static MemoryDisk CopyOf(MemoryDisk disk)
    {
        var copy = new MemoryDisk();
        foreach (string name in disk.List())
        {
            byte[] bytes = disk.Bytes(name);
            using IDiskFile file = copy.Create(name, bytes.Length);
            if (bytes.Length > 0) file.Write(0, bytes);
        }
        return copy;
    }
}
