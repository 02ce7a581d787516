using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Room for one chunk key at a time; the owner and the root's key are copied once per edit.</summary>
internal sealed unsafe class ChunkScratch : IDisposable
{
    private const int SlackBytes = 64;
    private byte* _key = (byte*)NativeMemory.AllocZeroed(Store.KeyBytesMax + SlackBytes);

    public byte* Bytes => _key;

    public void Begin(ulong owner, in KeyRef root)
    {
        *(ulong*)_key = owner;
        root.Span.CopyTo(new Span<byte>(_key + ChunkKey.HeadBytes, root.Length));
    }

    /// <summary>The chunk's key, valid until the next call.</summary>
    public KeyRef Key(StoreCore core, in KeyRef root, uint number)
    {
        *(uint*)(_key + 8) = number;
        return new KeyRef(_key, root.Length + ChunkKey.HeadBytes, root.Namespace, ChunkKey.Hash(core, root.Hash, _key));
    }

    public void Dispose()
    {
        NativeMemory.Free(_key);
        _key = null;
    }
}
