using System.Globalization;

namespace Garnet.Server.Test;

/// <summary>What client-side caching may take of memory, and where it is shown.</summary>
public sealed class TrackingLimitTests
{
    private const int KeyBytesMax = 65_535, PrefixBytesMax = 32 << 20;

    [Test]
    public void A_prefix_that_is_longer_than_a_key_can_be_is_refused()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("HELLO", "3");
        Assert.That(client.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a", "PREFIX", new string('x', KeyBytesMax + 1)),
            Does.Contain("ERR a prefix is longer than 65535 bytes"));
        Assert.That(server.Server.Context.Observers.Tracker.PrefixCount, Is.Zero);
        Assert.That(client.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", new string('x', KeyBytesMax)), Is.EqualTo("OK"));
    }

    [Test]
    public void Prefixes_of_one_client_have_a_limit_and_are_a_part_of_its_memory()
    {
        const int Bytes = 60_000, Fit = 556;
        using var server = new EmbeddedServer();
        using TestClient client = new(server.Server.Port), other = new(server.Server.Port);
        client.Call("HELLO", "3");
        string id = client.Call("CLIENT", "ID");
        int taken = 0;
        while (taken <= Fit && client.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", Long(taken)) == "OK") taken++;
        Assert.That(taken, Is.EqualTo(Fit));
        Assert.That(client.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", Long(taken)), Does.Contain("ERR a per-client limit was reached"));
        Assert.That(client.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "short"), Is.EqualTo("OK"), "there is a little room");
        Assert.That(MemoryOf(other, id), Is.InRange(PrefixBytesMax - (2 * Bytes), PrefixBytesMax + Bytes));
        Assert.That(Figure(other, "mem_clients_normal"), Is.GreaterThan(PrefixBytesMax - (2 * Bytes)));
        client.Call("CLIENT", "TRACKING", "OFF");
        Assert.That(MemoryOf(other, id), Is.LessThan(Bytes * 2));
        Assert.That(server.Server.Context.Observers.Tracker.PrefixCount, Is.Zero);

        static string Long(int number) => number.ToString("d5", CultureInfo.InvariantCulture).PadRight(Bytes, 'x');
    }

    [Test]
    public void So_many_prefixes_at_once_are_refused_as_one_by_one()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("HELLO", "3");
        string[] prefixes = [.. Enumerable.Range(0, 200_000).SelectMany(static i => new[] { "PREFIX", $"p{i}:" })];
        Assert.That(client.Call(["CLIENT", "TRACKING", "ON", "BCAST", .. prefixes]), Does.Contain("ERR a per-client limit was reached"));
        Assert.That((server.Server.Context.Observers.Tracker.PrefixCount, server.Server.Context.Observers.Tracker.Clients), Is.EqualTo((0, 0)));
    }

    [Test]
    public void Clients_that_have_gone_are_forgotten_while_others_read_the_same_keys()
    {
        const int Gone = 200, Keys = 20, HoldersMax = 10;
        using var server = new EmbeddedServer();
        string[] read = ["MGET", .. Enumerable.Range(0, Keys).Select(static i => "k" + i)];
        using TestClient staying = new(server.Server.Port), writer = new(server.Server.Port);
        Track(staying, read);
        for (int i = 0; i < Gone; i++)
        {
            using (var going = new TestClient(server.Server.Port)) Track(going, read);
            Eventually.Holds(() => server.Server.Context.Observers.Tracker.Clients == 1);
        }

        Assert.That(server.Server.Context.Observers.Tracker.Items, Is.InRange(Keys, Keys * HoldersMax));
        writer.Call("SET", "k0", "v");
        Assert.That(staying.Read(), Is.EqualTo("[invalidate [k0]]"), "who is there is told");
    }

    [Test]
    public void Who_holds_a_key_counts_too_where_the_table_is_bounded()
    {
        const int Clients = 50, Keys = 10, ItemsMax = ((Keys + 1) * 16) - 1;
        using var server = new EmbeddedServer();
        using var admin = new TestClient(server.Server.Port);
        admin.Call("CONFIG", "SET", "tracking-table-max-keys", Keys.ToString(CultureInfo.InvariantCulture));
        string[] read = ["MGET", .. Enumerable.Range(0, Keys).Select(static i => "k" + i)];
        TestClient[] clients = [.. Enumerable.Range(0, Clients).Select(_ => new TestClient(server.Server.Port))];
        foreach (TestClient client in clients) Track(client, read);
        Assert.That(server.Server.Context.Observers.Tracker.Items, Is.InRange(ItemsMax / 2, ItemsMax));
        admin.Call(["MSET", .. Enumerable.Range(0, Keys).SelectMany(static i => new[] { "k" + i, "v" })]);
        foreach (TestClient client in clients)
        {
            HashSet<string> told = [.. client.Pushes];
            while (told.Count < Keys) told.Add(client.Read());
            client.Dispose();
        }
    }

    [Test]
    public void The_table_of_keys_is_a_part_of_the_memory_that_is_used()
    {
        const int Keys = 10_000, NameBytes = 100;
        using var server = new EmbeddedServer();
        using TestClient reader = new(server.Server.Port), other = new(server.Server.Port);
        long used = Figure(other, "used_memory"), overhead = Figure(other, "used_memory_overhead");
        Track(reader, ["MGET", .. Enumerable.Range(0, Keys).Select(static i => i.ToString(CultureInfo.InvariantCulture).PadRight(NameBytes, 'x'))]);
        long table = Figure(other, "garnet_tracking_table_bytes");
        Assert.That(table, Is.InRange(Keys * NameBytes, Keys * NameBytes * 4));
        Assert.That(Figure(other, "used_memory") - used, Is.GreaterThanOrEqualTo(table));
        Assert.That(Figure(other, "used_memory_overhead") - overhead, Is.GreaterThanOrEqualTo(table));
        reader.Call("CLIENT", "TRACKING", "OFF");
        Assert.That(Figure(other, "garnet_tracking_table_bytes"), Is.Zero);
    }

    private static void Track(TestClient client, string[] read)
    {
        client.Call("HELLO", "3");
        client.Call("CLIENT", "TRACKING", "ON");
        client.Call(read);
    }

    private static long MemoryOf(TestClient client, string id) => Number(client.Call("CLIENT", "LIST", "ID", id), "tot-mem=");

    private static long Figure(TestClient client, string name) => Number(client.Call("INFO", "memory"), name + ":");

    private static long Number(string text, string before)
    {
        int start = text.IndexOf(before, StringComparison.Ordinal) + before.Length;
        Assert.That(start, Is.GreaterThanOrEqualTo(before.Length), before);
        return long.Parse(text[start..].Split(' ', '\r')[0], CultureInfo.InvariantCulture);
    }
}
