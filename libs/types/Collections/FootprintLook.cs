using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>Asks how much memory a record takes with its chunks.</summary>
public struct FootprintLook : IExamine
{
    public long Bytes;
    public int Records;

    public void Look(ref RecordEdit record) => Bytes = record.Footprint(out Records);
}
