namespace Tsavorite;

/// <summary>What a chunk is looked up by: its root's owner and key, its number, and its hash.</summary>
internal readonly unsafe ref struct ChunkName(ulong owner, uint number, KeyRef inRoot)
{
    private readonly KeyRef _root = inRoot;

    public ulong Hash => _root.Hash;

    public bool Names(byte* record)
    {
        byte* key = Record.Key(record);
        return Record.KeyBytes(record) == _root.Length + ChunkKey.HeadBytes && Record.Namespace(record) == _root.Namespace
            && ChunkKey.Owner(key) == owner && ChunkKey.Number(key) == number
            && Record.SameKey(key + ChunkKey.HeadBytes, _root.Bytes, _root.Length);
    }
}
