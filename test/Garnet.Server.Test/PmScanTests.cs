using Garnet.Server.Test.Net;

namespace Garnet.Server.Test;

/// <summary>A walk over keys whose values lie in persistent memory, in parts: it waits for no device, and nobody else does.</summary>
internal sealed class PmScanTests
{
    [Test]
    public void A_walk_in_parts_ends_and_what_others_ask_between_them_is_answered([Values(1, 10, 1000)] int count)
    {
        const int Keys = 600;
        string folder = Directory.CreateTempSubdirectory("garnet-pm-scan").FullName;
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.ReactorThreads = 1;
            settings.Memory.MaxMemoryBytes = 64 << 20;
            (settings.Tier.PmPath, settings.Tier.PmSizeBytes) = (folder, 64 << 20);
        });
        using var client = new TestClient(server.Server.Port);
        using var other = new TestClient(server.Server.Port);
        for (int i = 0; i < Keys; i++)
        {
            client.Call("SET", $"k{i}", new string('y', 200));
            client.Call("TIER.DEMOTE", $"k{i}");
        }

        HashSet<string> seen = [];
        string cursor = "0";
        do
        {
            string[] reply = client.Call("SCAN", cursor, "COUNT", $"{count}").Trim('[', ']').Split([' ', '[', ']'], StringSplitOptions.RemoveEmptyEntries);
            cursor = reply[0];
            seen.UnionWith(reply[1..]);
            Assert.That(other.Call("INFO", "server"), Does.Contain("redis_version"));
            Assert.That(other.Call("STRLEN", "k7"), Is.EqualTo("200"));
        }
        while (cursor != "0");
        Assert.That(seen, Has.Count.EqualTo(Keys));
        server.Dispose();
        Directory.Delete(folder, recursive: true);
    }
}
