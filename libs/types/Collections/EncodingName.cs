using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>What OBJECT ENCODING answers for a collection: Redis's name for one of its size. How it is kept here is another matter.</summary>
public static class EncodingName
{
    public static ReadOnlySpan<byte> Of(RecordKind kind, RootFlags flags)
    {
        bool large = (flags & RootFlags.Converted) != 0;
        return kind switch
        {
            RecordKind.Set when (flags & RootFlags.Integers) != 0 => "intset"u8,
            RecordKind.Hash or RecordKind.Set => large ? "hashtable"u8 : "listpack"u8,
            RecordKind.SortedSet => large ? "skiplist"u8 : "listpack"u8,
            RecordKind.List => large ? "quicklist"u8 : "listpack"u8,
            _ => "stream"u8,
        };
    }
}
