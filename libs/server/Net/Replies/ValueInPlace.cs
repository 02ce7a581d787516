using Garnet.Common.Linux;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>
/// A long value that is the whole reply of the command that runs: it is not copied among the replies but leaves from where it lies in the store, pinned (store.P1),
/// behind what stands before it. What was noted is void once the reply has been taken back.
/// </summary>
internal sealed unsafe class ValueInPlace(Worker worker, Monitoring monitoring, ReplyPath replies) : IValueReplies
{
    private PinnedValue _value;
    private long _takenBack;

    /// <inheritdoc/>
    public bool TryReply(Connection client, in KeyRef key)
    {
        if (client != worker.Running || worker.IsForScript || client.Out.HasValue || _value.Exists)
            return false;
        long takenBack = worker.Out.TakenBack;
        byte* head = worker.Out.Room(RespWriter.Slack); // which may give up the reply, where there is no memory
        if (takenBack != worker.Out.TakenBack || !PinnedValue.TryTake(worker.Session, in key, out PinnedValue value))
            return false;
        bool isPlain = !monitoring.MeasuresReplies
            && worker.Out.Mark + value.Length + RespWriter.Slack <= replies.BytesMax(client);
        if (!isPlain)
        {
            value.Release();
            return false;
        }

        worker.Out.Position = RespWriter.BulkHeader(head, value.Length);
        (_value, _takenBack) = (value, takenBack);
        replies.LookAfterwards();
        return true;
    }

    /// <summary>Behind the command: true if a value stands at the end of the client's replies, which is the caller's to send.</summary>
    internal bool TryTake(out PinnedValue value)
    {
        (value, _value) = (_value, default);
        if (!value.Exists)
            return false;
        if (_takenBack == worker.Out.TakenBack)
            return true;
        value.Release();
        return false;
    }
}
