using System.Text;
using Garnet.Server.Net;

namespace Garnet.Server.Test.Net;

/// <summary>The memory of replies may move at every byte (common.R1): whoever kept a pointer into it writes or reads what is not there any more.</summary>
[NonParallelizable] // for all servers of the process
public sealed class MovingReplyTests
{
    private const int Commands = 3_000, Rounds = 3;

    // What reads all there is, in every way in which replies are written, taken back and written anew.
    private static readonly string[] Reads =
    [
        "MGET key:1 key:2 key:3 number:1", "GET key:4", "GETEX key:5", "GETRANGE key:3 0 -1", "LCS key:1 key:2", "SUBSTR key:3 0 9", "BITFIELD_RO key:1 GET u8 0 GET i5 3",
        "LRANGE list:1 0 -1", "LPOS list:1 member:1 COUNT 0", "HGETALL hash:1", "HMGET hash:1 member:1 member:2", "HKEYS hash:2", "HRANDFIELD hash:0 -5 WITHVALUES", "HSCAN hash:0 0 COUNT 1000", "SMEMBERS set:1", "SMISMEMBER set:1 a b", "SUNION set:0 set:1 set:2",
        "SINTER set:1 set:1", "ZRANGE sorted:1 0 -1 WITHSCORES", "ZUNION 2 sorted:1 sorted:2 WITHSCORES", "ZMSCORE sorted:1 member:1 member:2", "ZSCAN sorted:0 0 COUNT 1000", "SORT list:1 ALPHA GET # GET key:*", "XRANGE stream:1 - +", "XREVRANGE events:1 + - COUNT 7",
        "XREAD STREAMS events:1 events:0 0 0", "XINFO STREAM events:1", "KEYS *", "SCAN 0 COUNT 1000", "COMMAND DOCS GET SET", "INFO", "CONFIG GET *", "CLIENT LIST", "OBJECT HELP", "LATENCY HELP", "DBSIZE", "NOSUCH", "GET", "LRANGE key:1 0 x",
    ];

    [Test]
    public void Replies_are_the_same_wherever_they_stand([Values(2, 3)] int protocol)
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Network.ReactorThreads = 1);
        using var client = new TestClient(server.Server.Port);
        client.Call("HELLO", protocol.ToString(System.Globalization.CultureInfo.InvariantCulture));
        var random = new RandomCommands(protocol) { Expires = false };
        try
        {
            for (int round = 0; round < Rounds; round++)
            {
                ExtraReplies.MovesAlways = true;
                Drive(server, random);
                foreach (string read in Reads)
                {
                    if (read is "INFO" or "CLIENT LIST" or "HRANDFIELD hash:0 -5 WITHVALUES") continue; // no two are the same
                    string[] words = read.Split(' ');
                    string[][] ways =
                    [
                        words, ["EVAL", "return redis.pcall(unpack(ARGV))", "0", .. words], ["EVAL", "redis.setresp(3) local r = {} for i = 1, 3 do r[i] = redis.pcall(unpack(ARGV)) end return r", "0", .. words],
                    ];
                    foreach (string[] way in ways)
                    {
                        ExtraReplies.MovesAlways = false;
                        string[] still = [client.Call(way), .. Transaction(client, way)];
                        ExtraReplies.MovesAlways = true;
                        Assert.That((string[])[client.Call(way), .. Transaction(client, way)], Is.EqualTo(still), string.Join(' ', way));
                    }
                }

                foreach (string read in Reads) client.Call(read.Split(' '));
            }
        }
        finally
        {
            ExtraReplies.MovesAlways = false;
        }
    }

    private static string[] Transaction(TestClient client, string[] words) =>
        client.Pipeline(1, ["MULTI"], words, ["PING"], words, ["EXEC"]);

    private static void Drive(EmbeddedServer server, RandomCommands random)
    {
        var text = new StringBuilder();
        for (int i = 0; i < Commands; i++) random.AddTo(text);
        server.Send(text.Append("*2\r\n$4\r\nECHO\r\n$9\r\nthat's it\r\n").ToString(), "that's it\r\n");
    }
}
