namespace Tsavorite;

/// <summary>Why a key changed without a command asking for that key.</summary>
public enum KeyChange : byte
{
    /// <summary>A command wrote, created or removed the key.</summary>
    Written,
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
