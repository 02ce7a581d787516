using Tsavorite;

namespace Garnet.Server.Types.Collections;

/// <summary>How many entries a collection has, and what it is.</summary>
internal struct CountLook : IExamine
{
    internal RecordKind Kind;
    internal long Count;

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
