namespace Tsavorite;

/// <summary>Namespace ids and the database numbers that stand for them.</summary>
public sealed class NamespaceTable
{
    /// <summary>Most databases a server may have.</summary>
    public const int DatabasesMax = 65_536;

    /// <summary>The id the number stands for now (one volatile read); creates it on first use.</summary>
    public uint Id(int database) => throw new NotSupportedException();

    /// <summary>Swaps what two numbers stand for, atomically.</summary>
    public void Swap(int first, int second) => throw new NotSupportedException();

    /// <summary>
    /// Gives the number a fresh, empty id; the old one's records are reclaimed in the background, or before the
    /// call returns with <paramref name="wait"/>. Returns the number of keys given up.
    /// </summary>
    public long Flush(int database, bool wait) => throw new NotSupportedException();
}
