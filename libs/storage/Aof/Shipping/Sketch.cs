using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;
using Garnet.Common;

namespace Garnet.Aof.Shipping;

/// <summary>
/// For each key, by hash and with others sharing its place, the last batch that touches it: written before the change, so that a
/// reader who sees a change of an unfinished batch sees its announcement too. Several workers may write one place, but only the
/// numbers of batches that are under way together, and any of those makes the reader wait.
/// </summary>
public sealed unsafe class Sketch(int bits) : IDisposable
{
    private const ulong Spread = 0x9E3779B97F4A7C15;
    private readonly int _shift = 64 - bits;
    private readonly NativeArray<ulong> _places = new(1L << bits);

    /// <summary>The batch that last announced a key with this hash.</summary>
    public ulong this[ulong hash] => Volatile.Read(ref _places.Items[Place(hash)]);

    /// <inheritdoc/>
    public void Dispose() => _places.Dispose();

    /// <summary>The batch is about to change a key with this hash. The partition's lock, taken next, is the fence behind it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Announce(ulong hash, ulong batch)
    {
        ulong* place = _places.Items + Place(hash);
        if (*place != batch)
            Volatile.Write(ref *place, batch);
    }

    /// <summary>The place will be written soon.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Prefetch(ulong hash)
    {
        if (Sse.IsSupported)
            Sse.Prefetch0(_places.Items + Place(hash));
    }

    internal void Clear() => _places.Clear();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong Place(ulong hash) => hash * Spread >> _shift;
}
