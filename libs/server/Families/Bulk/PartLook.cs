using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>Copies the wanted part of a string, if there is room for it; else it is only measured.</summary>
internal unsafe struct PartLook : IRead
{
    private readonly long _from, _length;
    private byte* _to;
    private long _room;

    /// <summary>What the key holds.</summary>
    internal RecordKind Kind;

    /// <summary>Bytes of the whole.</summary>
    internal int Total;

    /// <summary>Bytes of the part.</summary>
    internal int Count;

    /// <summary>True if the part was copied.</summary>
    internal bool IsCopied;

    /// <summary>The version of the whole, if the part is less than that and was copied.</summary>
    internal ulong? Version;

    internal PartLook(in GetTerms terms) : this() => (_from, _length) = (terms.From, terms.Length ?? terms.Capacity);

    /// <summary>There is room for it.</summary>
    internal void CopyTo(byte* to, long room)
    {
        _to = to;
        _room = room;
    }

    public void Look(in RecordView record)
    {
        Kind = record.Kind;
        Total = record.ValueBytes;
        long from = Math.Min(_from, Total);
        Count = (int)Math.Min(_length, Total - from);
        IsCopied = _to != null && Count <= _room;
        Version = null;
        if (!IsCopied || Kind != RecordKind.String)
            return;
        Buffer.MemoryCopy(record.Value + from, _to, _room, Count);
        if (Count < Total)
            Version = ValueDigest.Of(record.ValueSpan);
    }
}
