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
}
