using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Families.Keys;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Keys that a walk has come to twice are answered once.</summary>
public sealed unsafe class KeyCollectorTests : IReplyRoom, IDisposable
{
    private const int ReplyBytes = 1 << 16, Keys = 500;
    private readonly byte* _reply = (byte*)NativeMemory.Alloc(ReplyBytes + RespWriter.Slack);

    public bool TryMakeRoom(RespWriter writer, int bytes)
    {
        writer.Position = _reply;
        writer.Limit = _reply + ReplyBytes;
        return true;
    }

    public void Dispose() => NativeMemory.Free(_reply);

    [Test]
    public void Keys_that_were_come_to_twice_are_answered_once([Values] bool mayHaveTwice)
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        foreach (int i in Enumerable.Range(0, Keys)) client.Call("SET", $"{i}\r\n", "v");
        client.Call("SET", "", "v");
        using StoreSession session = server.Server.Store.OpenSession();
        var writer = new RespWriter(this);
        var collector = new KeyCollector(null, RecordKind.None);
        for (int walks = 2; walks > 0; walks--)
        {
            ulong cursor = 0;
            do cursor = session.Scan(server.Server.Store.Namespaces.Id(0), cursor, 10, ref collector);
            while (cursor != 0);
        }
        _ = TryMakeRoom(writer, 0);
        writer.BeginReply();
        collector.WriteTo(writer, mayHaveTwice);
        string reply = Encoding.Latin1.GetString(_reply, (int)(writer.Position - _reply));
        int expected = (mayHaveTwice ? 1 : 2) * (Keys + 1);
        Assert.That(reply, Does.StartWith($"*{expected}\r\n"));
        string[] bulks = [.. Enumerable.Range(0, Keys).Select(static i => $"{i}\r\n").Append("").Select(static key => $"${key.Length}\r\n{key}\r\n")];
        Assert.That(bulks, Has.All.Matches<string>(bulk => reply.Contains(bulk, StringComparison.Ordinal)));
        Assert.That(reply, Has.Length.EqualTo($"*{expected}\r\n".Length + (bulks.Sum(static bulk => bulk.Length) * (mayHaveTwice ? 1 : 2))));
        collector.Free();
    }
}
