using System.Globalization;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Reading;

/// <summary>What one command says of several keys was so at one moment, whatever others write meanwhile.</summary>
public sealed class SnapshotReadTests
{
    private const int Looks = 4000;

    [Test]
    public void Exists_and_touch_never_see_half_of_a_rename([Values("EXISTS", "TOUCH")] string command) =>
        Watch([["SET", "left", "v"]], Rename, [command, "left", "right"], static reply => Assert.That(reply, Is.EqualTo("1")));

    [Test]
    public void Dbsize_never_sees_half_of_a_rename() =>
        Watch([["SET", "left", "v"]], Rename, ["DBSIZE"], static reply => Assert.That(reply, Is.EqualTo("1")));

    [Test]
    public void Lcs_never_sees_half_of_an_mset()
    {
        int round = 0;
        Watch(
            [["MSET", "left", new string('a', 20), "right", new string('a', 20)]],
            writer =>
            {
                string value = new((char)('a' + (round++ % 26)), 20);
                writer.Call("MSET", "left", value, "right", value);
            },
            ["LCS", "left", "right", "LEN"],
            static reply => Assert.That(reply, Is.EqualTo("20")));
    }

    // One client sets left, then right: right is never ahead.
    [Test]
    public void Mget_never_sees_a_later_write_without_an_earlier_one()
    {
        int round = 0;
        Watch(
            [],
            writer =>
            {
                string value = (++round).ToString(CultureInfo.InvariantCulture);
                writer.Call("SET", "left", value);
                writer.Call("SET", "right", value);
            },
            ["MGET", "left", "right"],
            static reply =>
            {
                string[] values = reply.Trim('[', ']').Split(' ');
                Assert.That(Number(values[0]) - Number(values[1]), Is.InRange(0, 1), reply);
            });
    }

    private static long Number(string text) => text == "nil" ? 0 : long.Parse(text, CultureInfo.InvariantCulture);

    private static void Rename(TestClient writer)
    {
        writer.Call("RENAME", "left", "right");
        writer.Call("RENAME", "right", "left");
    }

    private static void Watch(string[][] first, Action<TestClient> write, string[] command, Action<string> check)
    {
        using EmbeddedServer server = new();
        using TestClient reader = new(server.Server.Port), writer = new(server.Server.Port);
        foreach (string[] call in first) writer.Call(call);
        using var stop = new CancellationTokenSource();
        var writing = TestThread.Begin(() =>
        {
            while (!stop.IsCancellationRequested) write(writer);
        });
        try
        {
            for (int i = 0; i < Looks; i++) check(reader.Call(command));
        }
        finally
        {
            stop.Cancel();
            writing.Await();
        }
    }
}
