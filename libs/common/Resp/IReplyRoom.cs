namespace Garnet.Common.Resp;

/// <summary>Where a writer gets more room when its buffer is full.</summary>
public interface IReplyRoom
{
    /// <summary>
    /// Gives the writer at least <paramref name="bytes"/> of room, keeping what has been written of the reply, or giving that up (<see cref="RespWriter.GiveUpReply"/>).
    /// False if there is no memory: the reply is given up, and room for a short one is there in its place.
    /// </summary>
    bool TryMakeRoom(RespWriter writer, int bytes);
}
