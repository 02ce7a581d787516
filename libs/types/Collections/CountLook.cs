using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>How many entries a collection has, and what it is.</summary>
public struct CountLook : IExamine
{
    public RecordKind Kind;
    public long Count;

    public void Look(ref RecordEdit record)
    {
        Kind = record.Kind;
        if (Kind is not (RecordKind.None or RecordKind.String))
            unsafe
            {
                Count = Root.Count(record.Value);
            }
    }
}
