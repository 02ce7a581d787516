namespace Tsavorite;

/// <summary>
/// A partitioned, hash-indexed, log-structured store of byte strings that lives outside the managed heap.
/// Thread-safe; every thread works through a <see cref="StoreSession"/> of its own.
/// </summary>
public sealed unsafe class Store : IDisposable
{
    /// <summary>Longest key in bytes.</summary>
    public const int KeyBytesMax = ushort.MaxValue;

    /// <summary>Opens an empty store.</summary>
    public Store(StoreSettings settings) => Settings = settings;

    /// <summary>The settings the store was opened with.</summary>
    public StoreSettings Settings { get; }

    /// <summary>Namespace ids: database number to id, flush by fresh id, reclaim in the background.</summary>
    public NamespaceTable Namespaces { get; } = new();

    /// <summary>Seeded hash of the key bytes alone. Reads up to 16 bytes behind the last one.</summary>
    public ulong HashBytes(byte* key, int length) => throw new NotSupportedException();

    /// <summary>A key reference from a hash taken earlier by <see cref="HashBytes"/>.</summary>
    public KeyRef KeyFromHash(byte* key, int length, uint ns, ulong bytesHash) => throw new NotSupportedException();

    /// <summary>A key reference, hashing the bytes now.</summary>
    public KeyRef Key(byte* key, int length, uint ns) => KeyFromHash(key, length, ns, HashBytes(key, length));

    /// <summary>Brings the key's index bucket towards the cache (a hint, never wrong).</summary>
    public void PrefetchBucket(in KeyRef key) => throw new NotSupportedException();

    /// <summary>Second pass: brings the records whose tags match towards the cache.</summary>
    public void PrefetchRecord(in KeyRef key) => throw new NotSupportedException();

    /// <summary>A new session; one per thread that uses the store.</summary>
    public StoreSession OpenSession() => throw new NotSupportedException();

    /// <summary>Live keys in the namespace, O(partitions); may include expired ones not yet removed.</summary>
    public long Count(uint ns) => throw new NotSupportedException();

    /// <summary>Live keys with an expiry in the namespace, O(partitions).</summary>
    public long CountWithExpiry(uint ns) => throw new NotSupportedException();

    /// <summary>Changes the memory limit; a lower one is reached by eviction in the background.</summary>
    public void SetMemoryLimit(long bytes) => throw new NotSupportedException();

    /// <summary>Changes the eviction policy.</summary>
    public void SetPolicy(EvictionPolicy policy) => throw new NotSupportedException();

    /// <summary>Sets the observer, null for none; writers see the change with their next lock.</summary>
    public void Observe(IKeyObserver? observer) => throw new NotSupportedException();

    /// <summary>True when memory is close to the limit; read by every write command before it starts (one plain read).</summary>
    public bool Tight => throw new NotSupportedException();

    /// <summary>Exact figures of the moment.</summary>
    public StoreFigures Figures() => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose() { }
}
