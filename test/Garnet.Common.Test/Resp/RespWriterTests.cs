using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using NUnit.Framework;

namespace Garnet.Common.Test.Resp;

/// <summary>Which reply is under way, and what becomes of it when its room gives it up.</summary>
internal sealed unsafe class RespWriterTests
{
    private const int Bytes = 256;

    [Test]
    public void A_reply_is_given_up_with_its_first_piece()
    {
        using var room = new Room();
        RespWriter writer = room.Writer;
        writer.Ok();
        writer.BeginReply();
        writer.Bulk(new byte[Bytes]);
        Assert.That((writer.IsGivenUp, writer.ReplyBytes), Is.EqualTo((true, Bytes + 8L)));
        writer.TakeBackReply();
        Assert.That((writer.IsGivenUp, writer.ReplyBytes, Text(writer)), Is.EqualTo((false, 0L, "+OK\r\n")));
    }

    [Test]
    public void A_reply_in_a_longer_one_is_taken_back_alone()
    {
        using var room = new Room();
        RespWriter writer = room.Writer;
        writer.Ok();
        writer.BeginReply();
        writer.Array(2);
        long whole = writer.BeginPart();
        writer.Int(1);
        writer.TakeBackReply();
        Assert.That(Text(writer), Is.EqualTo("+OK\r\n*2\r\n"));
        writer.EndPart(whole);
        writer.Int(2);
        writer.TakeBackReply();
        Assert.That(Text(writer), Is.EqualTo("+OK\r\n"));
    }

    [Test]
    public void Behind_the_replies_of_another_client_nothing_of_its_own_is_under_way()
    {
        using var room = new Room();
        RespWriter writer = room.Writer;
        writer.BeginReply();
        writer.Bulk(new byte[Bytes]);
        writer.StartAt(writer.Position);
        Assert.That((writer.IsGivenUp, writer.ReplyBytes, writer.Mark), Is.EqualTo((false, 0L, 0L)));
        writer.Ok();
        writer.TakeBackReply();
        Assert.That(writer.Mark, Is.Zero);
    }

    private static string Text(RespWriter writer) => Encoding.Latin1.GetString(writer.Since(0));

    // Has memory for all, and gives up the first reply that does not fit into a quarter of it.
    private sealed class Room : IReplyRoom, IDisposable
    {
        private readonly byte* _memory = (byte*)NativeMemory.AllocZeroed((4 * Bytes) + RespWriter.Slack);

        internal Room()
        {
            Writer = new RespWriter(this);
            Writer.MoveTo(_memory, 0, _memory + Bytes);
        }

        internal RespWriter Writer { get; }

        public bool TryMakeRoom(RespWriter writer, int bytes)
        {
            writer.GiveUpReply();
            writer.MoveTo(_memory, writer.Mark, _memory + (4 * Bytes));
            return true;
        }

        public void Dispose() => NativeMemory.Free(_memory);
    }
}
