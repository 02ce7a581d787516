using System.Diagnostics;
using System.Globalization;
using System.Text;
using Garnet.Bulk;
using NUnit.Framework;

namespace Garnet.Wire.Bulk;

/// <summary>Values that go between this process's memory and the server's, which is another process of this machine.</summary>
[Parallelizable] // servers of its own
public sealed class BulkLocalTests
{
    private const int Size = 24 << 20;

    [OneTimeSetUp]
    public void The_machine_has_it()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
    }

    [Test]
    public async Task Values_of_all_sizes_go_and_come([Values] bool inSegment)
    {
        using ServerProcess server = Start();
        using RespConnection client = new(server.Address, 60_000);
        await using var exposed = BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true });
        using BulkSegment? segment = inSegment ? BulkSegment.Open(Size) : null;
        Memory<byte> memory = segment?.Memory ?? GC.AllocateUninitializedArray<byte>(Size, pinned: true);
        using BulkRegion region = exposed.Register(memory, BulkAccess.Read | BulkAccess.Write);
        Meet(client, exposed.Address, region.Name);
        foreach (int bytes in (int[])[0, 1, 4097, 64 << 10, (1 << 20) + 3, Size - 5])
        {
            Fill(memory.Span, bytes);
            byte[] value = memory.Slice(3, bytes).ToArray();
            RespNode put = client.Call("BULK.PUT", "k", "1", "3", Text(bytes));
            Assert.That(put.Items![1].Text, Is.EqualTo(client.Call("DIGEST", "k").Text), $"{bytes}: {put}");
            Assert.That(Encoding.Latin1.GetBytes(client.Call("GET", "k").Text).AsSpan().SequenceEqual(value), Is.True, $"GET of {bytes}");
            memory.Span.Clear();
            RespNode got = client.Call("BULK.GET", "k", "1", "1", Text(Size - 2));
            Assert.That(got.Items![1].Text, Is.EqualTo(Text(bytes)), got.ToString());
            Assert.That(got.Items[7].Text, Is.EqualTo(put.Items[3].Text), "the same bytes have the same CRC");
            Assert.That(memory.Span.Slice(1, bytes).SequenceEqual(value), Is.True, $"BULK.GET of {bytes}");
            Assert.That(memory.Span[(bytes + 1)..].IndexOfAnyExcept((byte)0), Is.LessThan(0), "nothing beside it");
        }
    }

    [Test]
    public async Task What_came_beside_the_connection_is_there_after_a_kill_and_on_a_replica()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("garnet-bulk-");
        using ServerProcess server = Start($"--appendonly yes --appendfsync always --dir {folder.FullName}");
        using ServerProcess replica = Start($"--replicaof \"127.0.0.1 {server.Address.Port}\"");
        using RespConnection client = new(server.Address, 60_000), reader = new(replica.Address, 60_000);
        await using var exposed = BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true });
        using BulkSegment segment = BulkSegment.Open(Size);
        Fill(segment.Memory.Span, 7);
        using BulkRegion region = exposed.Register(segment.Memory, BulkAccess.Read | BulkAccess.Write);
        Meet(client, exposed.Address, region.Name);
        client.Call("BULK.PUT", "k", "1", "0", Text(Size));
        string digest = client.Call("DIGEST", "k").Text;
        Assert.That(client.Call("WAIT", "1", "60000").ToString(), Is.EqualTo(":1"));
        Assert.That(reader.Call("DIGEST", "k").Text, Is.EqualTo(digest));
        Assert.That(Figure(client, "values-placed"), Is.EqualTo("1"), "it lies where it was received");
        server.Dispose();
        using (ServerProcess again = Start($"--appendonly yes --dir {folder.FullName}"))
        {
            using RespConnection other = new(again.Address, 60_000);
            Assert.That(other.Call("DIGEST", "k").Text, Is.EqualTo(digest));
        }

        folder.Delete(recursive: true);
    }

    [Test]
    public async Task A_value_goes_and_comes_in_parts()
    {
        using ServerProcess server = Start();
        using RespConnection client = new(server.Address, 60_000), other = new(server.Address, 60_000);
        await using var exposed = BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true });
        byte[] memory = GC.AllocateUninitializedArray<byte>(4 << 20, pinned: true);
        Fill(memory, 3);
        byte[] before = [.. memory];
        using BulkRegion region = exposed.Register(memory, BulkAccess.Read | BulkAccess.Write);
        Meet(client, exposed.Address, region.Name);
        client.Call("BULK.PUTV", "k", "3", "1", "0", "100", "1", "5000", "0", "1", Text(1 << 20), Text(1 << 20));
        byte[] value = [.. before[..100], .. before[(1 << 20)..(2 << 20)]];
        Assert.That(Encoding.Latin1.GetBytes(client.Call("GET", "k").Text).AsSpan().SequenceEqual(value), Is.True);
        RespNode got = client.Call("BULK.GETV", "k", "3", "50", "100", "1", "7", Text(1 << 20), "1000", "1", "3000000", "99", "0", "1", "9");
        Assert.That(got.ToString(), Does.StartWith($"[ \"lens\" [ :100 :100 :0 ] \"total\" :{value.Length} "));
        Assert.That(memory.AsSpan(7, 100).SequenceEqual(value.AsSpan(50, 100)), Is.True);
        Assert.That(memory.AsSpan(3_000_000, 100).SequenceEqual(value.AsSpan(1 << 20)), Is.True);
        Assert.That(memory.AsSpan(3_000_100).SequenceEqual(before.AsSpan(3_000_100)), Is.True, "nothing beside it");

        string token = client.Call("BULK.OPEN", "k2", Text(value.Length)).Text;
        value.CopyTo(memory, 0);
        for (int at = 0; at < value.Length; at += 300_000)
        {
            Assert.That(other.Call("EXISTS", "k2").Text, Is.EqualTo("0"), "nothing is seen before the commit");
            int bytes = Math.Min(300_000, value.Length - at);
            Assert.That(client.Call("BULK.WRITE", token, Text(at), "1", Text(at), Text(bytes)).Kind, Is.EqualTo(':'));
        }

        Assert.That(client.Call("BULK.COMMIT", "k2", token).Items![1].Text, Is.EqualTo(client.Call("DIGEST", "k").Text));
        Assert.That(other.Call("DIGEST", "k2").Text, Is.EqualTo(client.Call("DIGEST", "k").Text));
        Assert.That(Figure(client, "values-placed"), Is.EqualTo("2"));
        Assert.That(Figure(client, "bytes-running"), Is.EqualTo("0"));
    }

    [Test]
    public async Task Several_values_go_and_come_at_once()
    {
        using ServerProcess server = Start();
        using RespConnection client = new(server.Address, 60_000);
        await using var exposed = BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true });
        byte[] memory = GC.AllocateUninitializedArray<byte>(4 << 20, pinned: true);
        Fill(memory, 5);
        byte[] before = [.. memory];
        using BulkRegion region = exposed.Register(memory, BulkAccess.Read | BulkAccess.Write);
        Meet(client, exposed.Address, region.Name);
        RespNode put = client.Call("BULK.MPUT", "4", "a", "1", "0", "70000", "b", "1", "100", "0", "c", "1", "70000", "5", "c", "1", "80000", "6");
        Assert.That(put.Items!.Count, Is.EqualTo(4), put.ToString());
        foreach ((string key, int item) in new[] { ("a", 0), ("b", 1), ("c", 3) })
            Assert.That(put.Items[item].Items![1].Text, Is.EqualTo(client.Call("DIGEST", key).Text), key);
        Assert.That(Encoding.Latin1.GetBytes(client.Call("GET", "a").Text).AsSpan().SequenceEqual(before.AsSpan(0, 70_000)), Is.True);
        Assert.That(Encoding.Latin1.GetBytes(client.Call("GET", "c").Text), Is.EqualTo(before[80_000..80_006]), "the last one of a key stays");

        client.Call("SADD", "set", "member");
        RespNode got = client.Call(
            "BULK.MGET", "6", "c", "1", "1000000", "100", "none", "1", "0", "9", "a", "1", "2000000", "100000", "set", "1", "0", "9",
            "b", "1", "0", "9", "a", "1", "3000000", "9");
        Assert.That(got.Items!.Count, Is.EqualTo(6), got.ToString());
        Assert.That((got.Items[1].ToString(), got.Items[3].ToString()), Is.EqualTo(("$-1", "$-1")), "no key, and no string");
        Assert.That(got.Items[0].ToString(), Does.StartWith("[ \"len\" :6 \"total\" :6 "));
        Assert.That(got.Items[0].Items![5].Text, Is.EqualTo(client.Call("DIGEST", "c").Text));
        Assert.That(got.Items[2].ToString(), Is.EqualTo($"[ \"len\" :70000 \"total\" :70000 {Behind(put.Items[0])} ]"));
        Assert.That(got.Items[4].ToString(), Does.StartWith("[ \"len\" :0 \"total\" :0 "));
        Assert.That(got.Items[5].ToString(), Does.StartWith($"[ \"len\" :9 \"total\" :70000 \"version\" \"{put.Items[0].Items![1].Text}\" "), "a part has the whole one's version");
        Assert.That(memory.AsSpan(1_000_000, 6).SequenceEqual(before.AsSpan(80_000, 6)), Is.True);
        Assert.That(memory.AsSpan(2_000_000, 70_000).SequenceEqual(before.AsSpan(0, 70_000)), Is.True);
        Assert.That(memory.AsSpan(3_000_000, 9).SequenceEqual(before.AsSpan(0, 9)), Is.True);
        Assert.That(memory.AsSpan(3_000_009).SequenceEqual(before.AsSpan(3_000_009)), Is.True, "nothing beside it");
        Assert.That(memory.AsSpan(0, 1_000_000).SequenceEqual(before.AsSpan(0, 1_000_000)), Is.True, "nothing of what was not found");

        Assert.That(client.Call("BULK.MPUT", "2", "d", "1", "0", "9", "a", "1", "0", "9", "NX").ToString(), Is.EqualTo("$-1"));
        Assert.That(client.Call("EXISTS", "d").Text, Is.EqualTo("0"), "all or none");
        Assert.That(client.Call("BULK.MPUT", "2", "d", "1", "0", "9", "e", "1", "0", "9", "NX", "PX", "100000").Items!.Count, Is.EqualTo(2));
        Assert.That(int.Parse(client.Call("PTTL", "e").Text, CultureInfo.InvariantCulture), Is.InRange(1, 100_000));
        Assert.That(client.Call("BULK.MPUT", "1", "a", "1", "0", "9", "CRC", "1").Text, Is.EqualTo("ERR IFVER, CRC and AT are those of one value: BULK.PUT has them"));
        Assert.That(client.Call("BULK.MPUT", "2", "a", "1", "0", "9", "b", "1", "4194300", "9").Text, Does.StartWith("BULKRANGE"));
        Assert.That(client.Call("BULK.MGET", "1", "a", "1", "0", "9", "LEN", "1").Text, Is.EqualTo("ERR syntax error"));
        Assert.That(client.Call("STRLEN", "a").Text, Is.EqualTo("70000"));
        Assert.That(Figure(client, "bytes-running"), Is.EqualTo("0"));
        Assert.That(Figure(client, "transfers-running"), Is.EqualTo("0"));

        static string Behind(RespNode put) => put.ToString()[2..^2];
    }

    [Test]
    public void A_process_that_is_killed_ends_its_own_session()
    {
        using ServerProcess server = Start();
        using RespConnection client = new(server.Address, 60_000), other = new(server.Address, 60_000);
        client.Call("SET", "k", "old");
        using Process exposed = Expose(out byte[] address, out RemoteRegion region), living = Expose(out byte[] livingAddress, out RemoteRegion livingRegion);
        Meet(client, address, region);
        Meet(other, livingAddress, livingRegion);
        exposed.Kill();
        exposed.WaitForExit();
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", Text(1 << 20)).ToString(), Does.Match("^-BULK(CLOSED|KEY|RANGE)"));
        Assert.That(client.Call("GET", "k").Text, Is.EqualTo("old"));
        Assert.That(other.Call("BULK.PUT", "k", "1", "0", Text(1 << 20)).ToString(), Does.StartWith("[ \"version\""));
        Assert.That(client.Call("BULK.BYE").ToString(), Is.EqualTo("+OK"));
        living.Kill();
        living.WaitForExit();
    }

    [Test]
    public void Many_that_are_killed_in_the_middle_leave_a_server_that_serves()
    {
        const int Rounds = 8;
        using ServerProcess server = Start();
        using RespConnection other = new(server.Address, 60_000);
        other.Call("SET", "k", "old");
        string old = other.Call("DIGEST", "k").Text;
        for (int round = 0; round < Rounds; round++)
        {
            using RespConnection client = new(server.Address, 60_000);
            using Process exposed = Expose(out byte[] address, out RemoteRegion region);
            Meet(client, address, region);
            client.Send(RespConnection.Encode("BULK.PUT", "k", "1", "0", Text((int)region.Length)));
            exposed.Kill();
            string answer = client.Read().ToString();
            exposed.WaitForExit();
            string now = other.Call("DIGEST", "k").Text;
            bool isDone = answer.StartsWith("[ \"version\"", StringComparison.Ordinal);
            Assert.That(isDone || now == old, Is.True, $"{answer}: an error leaves the old value");
            Assert.That(other.Call("STRLEN", "k").Text, Is.EqualTo(isDone ? Text((int)region.Length) : "3").Or.EqualTo(Text((int)region.Length)));
            old = now;
        }

        Assert.That(Figure(other, "transfers-running"), Is.EqualTo("0"));
        Assert.That(Figure(other, "bytes-running"), Is.EqualTo("0"));
    }

    [Test]
    public async Task A_region_that_its_process_has_closed_is_no_key_any_more()
    {
        using ServerProcess server = Start();
        using RespConnection client = new(server.Address, 60_000);
        await using var exposed = BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true });
        byte[] memory = GC.AllocateUninitializedArray<byte>(1 << 20, pinned: true);
        BulkRegion region = exposed.Register(memory, BulkAccess.Read);
        Meet(client, exposed.Address, region.Name);
        client.Call("SET", "k", "old");
        Assert.That(client.Call("BULK.GET", "k", "1", "0", "3").ToString(), Does.StartWith("-BULKKEY"), "the process allows to read it only");
        region.Dispose();
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1000").ToString(), Does.StartWith("-BULKKEY"));
        Assert.That(client.Call("GET", "k").Text, Is.EqualTo("old"));
    }

    [Test]
    public void Who_does_not_answer_gets_what_comes_next_in_his_list()
    {
        using ServerProcess server = Start("--bulk-timeout 300");
        using RespConnection client = new(server.Address, 60_000);
        RespNode hello = client.Call("BULK.HELLO", "1", "PROVIDERS", "verbs,local,inline", "ADDR", "nowhere");
        Assert.That(hello.ToString(), Does.Contain("\"provider\" \"inline\"").And.Contain("verbs: bulk-providers does not name it; local: "));
        Assert.That(client.Call("BULK.REG", "1", "0", "10", "1").ToString(), Does.StartWith("-BULKNOREG provider inline"));
        client.Call("BULK.BYE");
        Assert.That(client.Call("BULK.HELLO", "1", "PROVIDERS", "local", "ADDR", "nowhere").ToString(), Does.StartWith("-BULKCLOSED no provider can be had (local: "));
        client.Call("CONFIG", "SET", "bulk-providers", "");
        Assert.That(client.Call("BULK.INFO").ToString(), Does.Contain("local (bulk-providers does not name it)"));
    }

    private static ServerProcess Start(string flags = "")
    {
        ServerProcess? server = ServerProcess.TryStartOurs("--enable-protected-configs yes " + flags);
        if (server is null) Assert.Ignore("our server is not built");
        return server!;
    }

    // The sample, as a process whose memory is reached.
    private static Process Expose(out byte[] address, out RemoteRegion region)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardInput = true, RedirectStandardOutput = true };
        foreach (string argument in (string[])[Path.Combine(AppContext.BaseDirectory, "bulk-copy.dll"), "expose", "local", "64"])
            start.ArgumentList.Add(argument);
        Process process = Process.Start(start)!;
        string[] told = process.StandardOutput.ReadLine()!.Split(' ');
        (address, region) = (Convert.FromHexString(told[0]), RemoteRegion.Parse(told[1]));
        return process;
    }

    internal static void Meet(RespConnection client, ReadOnlyMemory<byte> address, RemoteRegion region)
    {
        client.Send(RespConnection.Encode([.. ((string[])["BULK.HELLO", "1", "PROVIDERS", "local", "ADDR"]).Select(Encoding.ASCII.GetBytes), address.ToArray()]));
        RespNode hello = client.Read();
        Assert.That(hello.ToString(), Does.Contain("\"provider\" \"local\""));
        string key = $"0x{region.Key:x}", place = $"0x{region.Base:x}";
        Assert.That(client.Call("BULK.REG", "1", place, region.Length.ToString(CultureInfo.InvariantCulture), key).ToString(), Is.EqualTo("+OK"));
    }

    private static string Figure(RespConnection client, string name)
    {
        IReadOnlyList<RespNode> all = client.Call("BULK.INFO").Items!;
        return all[all.Select(static item => item.Text).ToList().IndexOf(name) + 1].Text;
    }

    private static void Fill(Span<byte> memory, int seed)
    {
        var random = new Random(seed);
        random.NextBytes(memory);
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
