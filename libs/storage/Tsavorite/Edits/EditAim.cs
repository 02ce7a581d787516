namespace Tsavorite;

/// <summary>What somebody looks a record and its chunks up for.</summary>
internal enum EditAim
{
    /// <summary>What lies on a tier is shown where it was fetched to.</summary>
    Look,
    /// <summary>What lies on a tier is taken back to memory (store.C5); also for a look that names much of it.</summary>
    Change,
}
