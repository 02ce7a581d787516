using Garnet.Server.Inspect;

namespace Garnet.Server.Test.Inspecting;

/// <summary>HOTKEYS where a transcript cannot show it: values that are sent from where they lie, several reactors, its time.</summary>
internal sealed class HotKeysTests
{
    [Test]
    public void A_value_that_is_sent_from_where_it_lies_counts_once()
    {
        const int Bytes = 3_000_000;
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("SETRANGE", "large", $"{Bytes - 1}", "x");
        client.Call("HOTKEYS", "START", "METRICS", "1", "NET");
        Assert.That(client.Call("GET", "large"), Has.Length.EqualTo(Bytes));
        int expected = "*2\r\n$3\r\nGET\r\n$5\r\nlarge\r\n".Length + $"${Bytes}\r\n".Length + Bytes + 2;
        Assert.That(client.Call("HOTKEYS", "GET"), Does.Contain($"{expected}").And.Contain("large"));
    }

    [Test]
    public void Clients_of_all_reactors_count()
    {
        const int Clients = 8, Each = 100;
        using var server = new EmbeddedServer();
        TestClient[] clients = [.. Enumerable.Range(0, Clients).Select(_ => new TestClient(server.Server.Port))];
        clients[0].Call("HOTKEYS", "START", "METRICS", "1", "NET");
        foreach (TestClient client in clients)
        {
            for (int i = 0; i < Each; i++) client.Call("GET", "none");
        }
        int one = "*2\r\n$3\r\nGET\r\n$4\r\nnone\r\n$-1\r\n".Length;
        Assert.That(clients[0].Call("HOTKEYS", "GET"), Does.Contain($"{Clients * Each * one}"));
        foreach (TestClient client in clients) client.Dispose();
    }

    [Test]
    public void It_ends_after_its_time()
    {
        ShiftedClock clock = new();
        using var server = new EmbeddedServer(clock: clock);
        using var client = new TestClient(server.Server.Port);
        client.Call("HOTKEYS", "START", "METRICS", "1", "NET", "DURATION", "60");
        Assert.That(client.Call("HOTKEYS", "RESET"), Does.Contain("in progress"));
        clock.ShiftMs = 60_001;
        client.Call("GET", "late");
        Assert.That(client.Call("HOTKEYS", "GET"), Does.Not.Contain("late"));
        Assert.That(client.Call("HOTKEYS", "STOP"), Is.EqualTo("nil"));
        Assert.That(client.Call("HOTKEYS", "RESET"), Is.EqualTo("OK"));
    }

    [Test]
    public void The_keys_of_the_last_half_minute_are_told_without_being_asked_for()
    {
        const int Rounds = 4000; // of four commands on keys: some 60 are looked at
        ShiftedClock clock = new();
        using var server = new EmbeddedServer(clock: clock);
        using var client = new TestClient(server.Server.Port);
        string[][] round = [["GET", "hot"], ["PING"], ["GET", "hot"], ["GET", "warm"], ["GET", "hot"]];
        client.Pipeline(Rounds, round);
        string told = client.Call("HOTKEYS", "RECENT");
        Assert.That(told.IndexOf("hot", StringComparison.Ordinal), Is.InRange(0, told.IndexOf("warm", StringComparison.Ordinal) - 1), told);
        Assert.That(server.Server.Context.Monitoring.RecentKeys.Top(1, clock.UnixMs).Single().Share, Is.EqualTo(.75).Within(.25), "three of four; PING names none");
        clock.ShiftMs += 60 * KeySampler.HalfLifeMs;
        Assert.That(client.Call("HOTKEYS", "RECENT"), Does.Not.Contain("hot"), "long ago");
    }

    [Test]
    public void A_sampler_looks_at_one_command_of_so_many()
    {
        using var server = new EmbeddedServer();
        KeySampler sampler = new(server.Server.Context.Workers.All[0]);
        const int Batches = 20_000;
        int[] sizes = [1, 7, 100, 1000];
        long commands = 0, looked = 0;
        for (int i = 0; i < Batches; i++)
        {
            int size = sizes[i % sizes.Length], last = -1;
            commands += size;
            if (!sampler.IsDue(size)) continue;
            for (int at = sampler.Next(size); at >= 0; at = sampler.Next(size), looked++)
            {
                Assert.That(at, Is.GreaterThan(last).And.LessThan(size));
                last = at;
            }
        }
        Assert.That((double)commands / looked, Is.EqualTo(KeySampler.Every).Within(.1 * KeySampler.Every));
    }
}
