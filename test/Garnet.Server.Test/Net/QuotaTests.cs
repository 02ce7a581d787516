using System.Globalization;
using System.Net.Sockets;

namespace Garnet.Server.Test.Net;

/// <summary>A connection that has had its commands of a round, and what it sent behind them.</summary>
public sealed class QuotaTests
{
    /// <summary>AUTH is a batch alone, so that the quota ends in the middle of one; what waits in it keeps the rest of its connection once.</summary>
    [Test]
    public void A_command_that_waits_just_before_the_quota_ends_keeps_what_follows_once([Values("BLPOP none 0.001", "CLIENT PAUSE 1")] string waits)
    {
        const int Before = 100, After = 400;
        using var server = new EmbeddedServer(adjust: static settings => settings.Security.Password = "secret");
        using TcpClient client = server.Connect();
        string counts = string.Concat(Enumerable.Repeat("INCR n\r\n", Before)), more = string.Concat(Enumerable.Repeat("INCR n\r\n", After));
        string answer = EmbeddedServer.Send(client, $"AUTH secret\r\n{counts}{waits}\r\n{more}ECHO end\r\n", "end\r\n");
        Assert.That(answer, Does.Not.Contain("ERR"));
        Assert.That(answer.Split("\r\n").Where(static line => line.StartsWith(':')),
            Is.EqualTo(Enumerable.Range(1, Before + After).Select(static i => ":" + i.ToString(CultureInfo.InvariantCulture))));
    }
}
