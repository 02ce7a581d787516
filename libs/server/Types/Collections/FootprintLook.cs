using Tsavorite;

namespace Garnet.Server.Types.Collections;

/// <summary>Asks how much memory a record takes with its chunks.</summary>
internal struct FootprintLook : IExamine
{
    internal long Bytes;
    internal int Records;

    public void Look(ref RecordEdit record) => Bytes = record.Footprint(out Records);

    /// <summary>Bytes of what is under the call's key, 0 without it.</summary>
    internal static long Of(ref Commands.Call call)
    {
        var look = default(FootprintLook);
        CollectionCalls.Examine(ref call, ref look, quiet: true);
        return look.Bytes;
    }
}
