using System.Text;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Replication;

/// <summary>
/// The primary as its replica sees it: takes the frames in the only order they may come in (a plan; if it says so a snapshot, block by
/// block, and its footer; batches) and hands what they bring to the follower. Without threads, sockets or waits.
/// </summary>
public sealed class PrimaryLink(Follower follower, Action<PlanFrame> onPlan, Action<DigestFrame> onDigest)
{
    private bool _planned;

    /// <summary>Why the link is over; null while it is not.</summary>
    public string? Fault { get; private set; }

    /// <summary>True while batches come in: the replica follows.</summary>
    public bool IsStreaming => Volatile.Read(ref _planned) && Fault is null && !follower.IsLoading;

    /// <summary>What the primary may be told: nothing of what was here before its plan was carried out.</summary>
    public AckFrame Ack() => IsStreaming ? follower.Ack() : default;

    /// <summary>Takes what has come; false if the link is over.</summary>
    public bool Take(FrameReader from)
    {
        while (Fault is null && from.TryNext(out FrameKind kind, out ReadOnlySpan<byte> body))
            Fault = Take(kind, body);
        Fault ??= from.Fault is { } fault ? "the primary sent nonsense: " + fault : null;
        return Fault is null;
    }

    private string? Take(FrameKind kind, ReadOnlySpan<byte> body)
    {
        switch (kind)
        {
            case FrameKind.Ping:
                return PingFrame.TryRead(body, out _) ? null : "the primary sent a ping that is none";
            case FrameKind.Bye:
                return "the primary closed: " + Encoding.UTF8.GetString(body);
            case FrameKind.Plan when !_planned:
                return TakePlan(body);
            case FrameKind.Snapshot when follower.IsLoading:
                return follower.Block(body);
            case FrameKind.SnapshotEnd when follower.IsLoading:
                return follower.EndFull(body);
            case FrameKind.Batch when IsStreaming:
                return follower.Part(body);
            case FrameKind.Digest when IsStreaming:
                return TakeDigest(body);
            default:
                return $"a frame of kind {(byte)kind} came out of order";
        }
    }

    private string? TakeDigest(ReadOnlySpan<byte> body)
    {
        if (DigestFrame.TryDecode(body) is not { } digest)
            return "the primary sent a digest that is none";
        onDigest(digest);
        return null;
    }

    private string? TakePlan(ReadOnlySpan<byte> body)
    {
        if (PlanFrame.TryDecode(body) is not { } plan)
            return "the primary sent a plan that is none";
        if (plan.Layout > ValueLayout.Current)
        {
            return $"the primary is of a newer version: its values lie as {plan.Layout}, "
                + $"and this server knows {ValueLayout.Current} at most. "
                + "Bring this server to that version first";
        }

        onPlan(plan);
        string? fault = null;
        if (plan.Resumes)
            fault = follower.ResumeFull(plan);
        else if (plan.IsFull)
            follower.BeginFull(plan);
        else
            fault = follower.Continue(plan);
        Volatile.Write(ref _planned, true); // only now: others read that the link is up from it
        return fault;
    }
}
