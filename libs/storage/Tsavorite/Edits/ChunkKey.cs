namespace Tsavorite;

/// <summary>
/// The key of a chunk: 0-7 the owner, a number that one root had at one time; 8-11 the chunk's number; then the root's key.
/// Chunks lie in their root's partition: the hash has the root's partition bits, and the rest from owner and number.
/// </summary>
internal static unsafe class ChunkKey
{
    public const int HeadBytes = 12;
    private const ulong First = 0xD6E8FEB86659FD93, Second = 0xA3B195354A39B70D;

    public static bool Is(byte* record) => Record.Kind(record) == RecordKind.Chunk && Record.KeyBytes(record) >= HeadBytes;

    public static ulong Owner(byte* key) => *(ulong*)key;

    public static uint Number(byte* key) => *(uint*)(key + 8);

    /// <summary>The hash of a chunk's key, from that of its root's.</summary>
    public static ulong Hash(StoreCore core, ulong rootHash, byte* key) => Hash(core, rootHash, Owner(key), Number(key));

    public static ulong Hash(StoreCore core, ulong rootHash, ulong owner, uint number)
    {
        ulong high = Math.BigMul(owner ^ First, number * Second | 1, out ulong low);
        ulong mixed = (high ^ low * KeyHash.NamespaceFactor) & core.HashMask;
        ulong rest = ulong.MaxValue >> (63 - core.Shape->PartitionShift);
        return (rootHash & ~rest) | (mixed & rest);
    }

    /// <summary>The root's key with the hash of one of its chunks, to look that up by.</summary>
    public static KeyRef InRoot(in KeyRef root, ulong hash) => new(root.Bytes, root.Length, root.Namespace, hash);

    /// <summary>A reference to the chunk with that key.</summary>
    public static KeyRef Of(StoreCore core, byte* key, int length, uint ns)
    {
        ulong root = KeyHash.Mix(core.HashOf(key + HeadBytes, length - HeadBytes), ns);
        return new KeyRef(key, length, ns, Hash(core, root, key));
    }
}
