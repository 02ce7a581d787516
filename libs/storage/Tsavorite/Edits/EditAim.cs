namespace Tsavorite;

/// <summary>What somebody looks a record and its chunks up for.</summary>
internal enum EditAim
{
    Look,
    /// <summary>What lies on a tier is taken back to memory (store.C5).</summary>
    Change,
}
