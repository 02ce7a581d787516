using System.Globalization;
using Garnet.Wire;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Server.Test.Net;

/// <summary>A write that finds no room waits for it only while it may come.</summary>
internal sealed class MemoryWaitTests
{
    private const int LookMs = 10, LooksMax = 30, WaitMs = 200;

    [Test]
    public void Where_no_room_is_to_be_had_a_write_is_refused_after_one_look_and_not_a_second_later()
    {
        using TestServer server = new(Route.Epoll, static settings =>
        {
            settings.Memory.MaxMemoryBytes = 8 << 20;
            settings.Memory.Policy = EvictionPolicy.VolatileTtl; // might let something go, and there is nothing that it may
        }, stopsClock: true);
        using RespConnection client = server.Connect();
        string value = new('v', 3 << 20); // memory is not tight, and it does not fit
        string reply = "";
        for (int i = 0; i < 1000 && !reply.StartsWith("-OOM", StringComparison.Ordinal); i++)
        {
            client.Send(RespConnection.Encode("SET", string.Create(CultureInfo.InvariantCulture, $"k{i}"), value));
            for (int look = 0; !client.WaitForBytes(WaitMs); look++)
            {
                Assert.That(look, Is.LessThan(LooksMax), "milliseconds of the server's time, by tens");
                server.Advance(LookMs);
            }

            reply = client.Read().ToString();
        }

        Assert.That(reply, Does.StartWith("-OOM"));
    }
}
