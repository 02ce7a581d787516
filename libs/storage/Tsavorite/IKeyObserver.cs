namespace Tsavorite;

/// <summary>How a key changed.</summary>
public enum KeyChange : byte
{
    /// <summary>A command wrote the key, which was there.</summary>
    Written,
    /// <summary>A command created the key.</summary>
    Created,
    /// <summary>A command removed the key.</summary>
    Removed,
    /// <summary>A command set only the key's expiry, perhaps to what it was.</summary>
    Retimed,
    /// <summary>A command took only the key's expiry away.</summary>
    Persisted,
    /// <summary>The key's time had come.</summary>
    Expired,
    /// <summary>The memory policy chose the key.</summary>
    Evicted,
}

/// <summary>
/// Told of every logical change while switched on by <see cref="Store.Observe"/>; runs under the partition lock, so
/// it may only note the change and return.
/// </summary>
public interface IKeyObserver
{
    /// <summary>The key changed.</summary>
    void OnChange(in KeyRef key, KeyChange change);

    /// <summary>The database is about to be emptied; every partition is locked.</summary>
    void OnFlush(int database);

    /// <summary>Two databases are about to change places; every partition is locked.</summary>
    void OnSwap(int first, int second);
}
