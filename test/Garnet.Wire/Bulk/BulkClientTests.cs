using System.Text;
using Garnet.Bulk;
using Garnet.Client;
using NUnit.Framework;

namespace Garnet.Wire.Bulk;

/// <summary>The client library, which carries bytes in several ways and has to look the same in all.</summary>
[Parallelizable] // a server of its own
[TestFixture("local")]
[TestFixture("net")]
[TestFixture("inline")]
public sealed class BulkClientTests(string provider)
{
    private const int Size = 3 << 20;
    private ServerProcess _server = null!;

    [OneTimeSetUp]
    public void There_is_a_server()
    {
        if (provider != "inline" && !BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
        if (provider != "inline" && BulkLibrary.Providers.Single(known => known.Name == provider) is { IsAvailable: false } fact)
            Assert.Ignore(fact.Reason);
        _server = ServerProcess.TryStartOurs("--requirepass secret --bulk-providers \"local net\"")!;
        if (_server is null)
            Assert.Ignore("our server is not built");
    }

    [OneTimeTearDown]
    public void Stop() => _server?.Dispose();

    [Test]
    public async Task A_value_goes_and_comes_whole_and_in_part()
    {
        await using BulkClient client = await Connect();
        Assert.That((client.Provider, client.Reaches), Is.EqualTo((provider, provider != "inline")));
        using BulkBuffer from = await client.AllocateAsync(Size), into = await client.RegisterAsync(new byte[Size]);
        new Random(1).NextBytes(from.Memory.Span);
        foreach (int bytes in (int[])[0, 1, 1000, 70_000, Size - 9])
        {
            BulkStored? stored = await client.PutAsync("k", from, 9, bytes);
            into.Memory.Span.Clear();
            BulkFetched? got = await client.GetAsync("k", into, 3, Size - 3);
            Assert.That(got, Is.EqualTo(new BulkFetched(bytes, bytes, stored!.Value.Version, stored.Value.Crc)), $"{bytes}");
            Assert.That(into.Memory.Span.Slice(3, bytes).SequenceEqual(from.Memory.Span.Slice(9, bytes)), Is.True, $"{bytes}");
            Assert.That(into.Memory.Span[(3 + bytes)..].IndexOfAnyExcept((byte)0), Is.LessThan(0), $"nothing behind {bytes}");
        }

        into.Memory.Span.Clear();
        BulkFetched? part = await client.GetAsync("k", into, 0, 100_000, new BulkGetOptions { From = 5, Length = 90_000 });
        Assert.That((part?.Length, part?.Total), Is.EqualTo((90_000, (long)Size - 9)));
        Assert.That(into.Memory.Span[..90_000].SequenceEqual(from.Memory.Span.Slice(14, 90_000)), Is.True);
        Assert.That(await client.GetAsync("none", into, 0, 10), Is.Null);
    }

    [Test]
    public async Task Several_values_go_and_come_at_once()
    {
        await using BulkClient client = await Connect();
        using BulkBuffer from = await client.AllocateAsync(Size), into = await client.RegisterAsync(new byte[Size]);
        new Random(2).NextBytes(from.Memory.Span);
        BulkItem[] items = [new("m1", from, 0, 70_000), new("m2", from, 9, 0), new("m3", from, Size - 5, 5)];
        BulkStored[]? stored = await client.PutManyAsync(items, new BulkPutOptions { Expiry = TimeSpan.FromHours(1) });
        Assert.That(await client.PutManyAsync([new("m4", from, 0, 1), items[0]], new BulkPutOptions { IfAbsent = true }), Is.Null);
        BulkFetched?[] got = await client.GetManyAsync(
            [new("m3", into, 7, 100), new("none", into, 0, 7), new("m1", into, 200, Size - 200), new("m4", into, 0, 1), new("m2", into, 0, 1)]);
        Assert.That(got, Is.EqualTo(new BulkFetched?[]
        {
            new(5, 5, stored![2].Version, stored[2].Crc), null, new(70_000, 70_000, stored[0].Version, stored[0].Crc), null,
            new(0, 0, stored[1].Version, stored[1].Crc),
        }));
        Assert.That(into.Memory.Span.Slice(7, 5).SequenceEqual(from.Memory.Span[(Size - 5)..]), Is.True);
        Assert.That(into.Memory.Span.Slice(200, 70_000).SequenceEqual(from.Memory.Span[..70_000]), Is.True);
        Assert.That(into.Memory.Span[..7].IndexOfAnyExcept((byte)0), Is.LessThan(0), "nothing beside it");
        Assert.That(into.Memory.Span[70_200..].IndexOfAnyExcept((byte)0), Is.LessThan(0), "nothing behind it");
        foreach (BulkPutOptions one in (BulkPutOptions[])[new() { At = 1 }, new() { Crc = 1 }, new() { IfVersion = stored[0].Version }])
            Assert.ThrowsAsync<ArgumentException>(() => client.PutManyAsync(items, one), $"{one}");
        foreach (BulkItem[] others in (BulkItem[][])[[], [.. Enumerable.Repeat(items[1], 65)]])
        {
            Assert.ThrowsAsync<ArgumentException>(() => client.PutManyAsync(others), $"{others.Length}");
            Assert.ThrowsAsync<ArgumentException>(() => client.GetManyAsync(others), $"{others.Length}");
        }

        Assert.That((await client.PutManyAsync([.. Enumerable.Repeat(items[1], 64)]))?.Length, Is.EqualTo(64));
        Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => client.GetManyAsync([new("m1", into, Size, 1)]));
    }

    [Test]
    public async Task Conditions_and_refusals_are_told()
    {
        await using BulkClient client = await Connect();
        using BulkBuffer buffer = await client.AllocateAsync(1000);
        Encoding.ASCII.GetBytes("123456789").CopyTo(buffer.Memory);
        BulkStored? stored = await client.PutAsync("c", buffer, 0, 9, new BulkPutOptions { Crc = 0xE3069283, Expiry = TimeSpan.FromHours(1) });
        Assert.That(stored?.Crc, Is.EqualTo(0xE3069283));
        Assert.That(await client.PutAsync("c", buffer, 0, 1, new BulkPutOptions { IfAbsent = true }), Is.Null);
        Assert.That(await client.PutAsync("none", buffer, 0, 1, new BulkPutOptions { IfPresent = true }), Is.Null);
        BulkStored? changed = await client.PutAsync("c", buffer, 0, 3, new BulkPutOptions { At = 6, IfVersion = stored?.Version });
        Assert.That(changed?.Version, Is.Not.EqualTo(stored?.Version));
        var refused = Assert.ThrowsAsync<BulkRefusedException>(() =>
            client.GetAsync("c", buffer, 0, 9, new BulkGetOptions { IfVersion = stored?.Version }));
        Assert.That(refused!.Code, Is.EqualTo("BULKVER"));
        Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => client.PutAsync("c", buffer, 990, 11));
        Assert.That((await client.GetAsync("c", buffer, 0, 9))?.Version, Is.EqualTo(changed?.Version), "it goes on");
        Assert.That(Encoding.ASCII.GetString(buffer.Memory.Span[..9]), Is.EqualTo("123456123"));
        await client.ReleaseAsync(buffer);
    }

    [Test]
    public void Whoever_may_not_come_is_told_so() => Assert.That(
        Assert.ThrowsAsync<BulkRefusedException>(() => BulkClient.ConnectAsync(_server.Address, new BulkClientOptions { Password = "other" }))!.Code,
        Is.EqualTo("WRONGPASS"));

    private Task<BulkClient> Connect() =>
        BulkClient.ConnectAsync(_server.Address, new BulkClientOptions { Providers = [provider], Password = "secret" });
}
