using Tsavorite;

namespace Garnet.Server.Types.Collections;

/// <summary>Asks how much memory a record takes with its chunks.</summary>
internal struct FootprintLook : IExamine
{
    internal long Bytes;
    internal int Records;

    public void Look(ref RecordEdit record) => Bytes = record.Footprint(out Records);
}
