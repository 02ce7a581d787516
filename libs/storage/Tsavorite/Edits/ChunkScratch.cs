using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Room for one chunk key at a time, which is put together where a chunk is made or moved.</summary>
internal sealed unsafe class ChunkScratch : IDisposable
{
    private const int SlackBytes = 64;
    /// <summary>The session's reads of cold records; null where there is no tier.</summary>
    public ColdReads? Cold;
    private byte* _key = (byte*)NativeMemory.AllocZeroed(Store.KeyBytesMax + SlackBytes);

    /// <summary>The chunk's key, valid until the next call.</summary>
    public KeyRef Key(in KeyRef root, ulong owner, uint number, ulong hash)
    {
        *(ulong*)_key = owner;
        *(uint*)(_key + 8) = number;
        root.Span.CopyTo(new Span<byte>(_key + ChunkKey.HeadBytes, root.Length));
        return new KeyRef(_key, root.Length + ChunkKey.HeadBytes, root.Namespace, hash);
    }

    public void Dispose()
    {
        NativeMemory.Free(_key);
        _key = null;
    }
}
