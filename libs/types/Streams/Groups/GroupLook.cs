using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Whether a stream and a group of it are there, and what the group has not read.</summary>
public unsafe struct GroupLook : IExamine
{
    public Operands Name;
    /// <summary>What others have left alone so long counts too.</summary>
    public long? ClaimMs;
    public long NowMs;

    public bool WrongKind;
    public bool Found;
    /// <summary>There is an entry behind the group's last one, or one to claim.</summary>
    public bool HasMore;
    /// <summary>When there may be one to claim, if nothing else happens.</summary>
    public long NextMs;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Stream;
        if (WrongKind)
            return;
        Found = StreamGroups.TryGroup(ref record, Name, out int group);
        if (!Found)
            return;
        StreamId last = StreamGroups.State(ref record, group).Last;
        var state = default(StreamStateLook);
        state.Look(ref record);
        HasMore = state.Length > 0 && state.LastEntry > last;
        NextMs = long.MaxValue;
        if (!HasMore && ClaimMs is { } claimMs)
            HasMore = DueClaims.Any(ref record, group, claimMs, NowMs, out NextMs);
    }
}
