using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Somebody wants a key on the tier. The mover's thread moves it, and tells who asked.</summary>
public sealed unsafe class DemotionRequest
{
    private const int SlackBytes = 64; // readable behind the key, as a hash wants them
    private readonly byte[] _key;
    private readonly int _length;
    private readonly uint _ns;
    private readonly ulong _hash;
    private readonly Action? _told;
    private int _moved = -1;

    internal DemotionRequest(in KeyRef key, in TierRoot root, Action? told)
    {
        _key = GC.AllocateArray<byte>(key.Length + SlackBytes, pinned: true);
        key.Span.CopyTo(_key);
        (_length, _ns, _hash) = (key.Length, key.Namespace, key.Hash);
        Root = root;
        _told = told;
    }

    /// <summary>True once all that can be moved has been.</summary>
    public bool IsDone => Volatile.Read(ref _moved) >= 0;

    /// <summary>Records that have moved; of a key that is read meanwhile, or finds no room, not all.</summary>
    public int Moved => Math.Max(Volatile.Read(ref _moved), 0);

    /// <summary>Nobody waits for it any more.</summary>
    public bool IsGivenUp { get; set; }

    internal TierRoot Root { get; }

    internal KeyRef Key => new((byte*)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_key)), _length, _ns, _hash);

    internal void Finish(int moved)
    {
        Volatile.Write(ref _moved, moved);
        _told?.Invoke();
    }
}
