using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Chunks whose root is gone and that are still to be removed; the root's key follows the fields.</summary>
internal unsafe struct Orphan
{
    private const int SlackBytes = 16; // readable behind the key, as a hash wants them

    public Orphan* Next;
    public ulong Owner;
    /// <summary>No chunk is left with this number or a higher one.</summary>
    public uint Limit;
    /// <summary>How many sets of numbers there are.</summary>
    public uint Sets;
    public uint Namespace;
    public int KeyBytes;

    public static byte* Key(Orphan* orphan) => (byte*)orphan + sizeof(Orphan);

    /// <summary>Notes the chunks of a root that is about to die.</summary>
    public static Orphan* Of(byte* record)
    {
        int keyBytes = Record.KeyBytes(record);
        Orphan* orphan = (Orphan*)NativeMemory.Alloc((nuint)(sizeof(Orphan) + keyBytes + SlackBytes));
        *orphan = new Orphan
        {
            Owner = Record.Owner(record),
            Limit = RootLimit.Of(Record.Value(record)),
            Sets = RootLimit.SetsOf(Record.Value(record)),
            Namespace = Record.Namespace(record),
            KeyBytes = keyBytes,
        };
        new ReadOnlySpan<byte>(Record.Key(record), keyBytes).CopyTo(new Span<byte>(Key(orphan), keyBytes));
        return orphan;
    }

    /// <summary>All of it has been done, or there is nothing to do.</summary>
    public static void Free(Orphan* orphan) => NativeMemory.Free(orphan);
}
