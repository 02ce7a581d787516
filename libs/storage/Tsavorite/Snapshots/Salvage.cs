namespace Tsavorite;

/// <summary>
/// Makes whole what was loaded of a snapshot some of whose records could not be read (<see cref="ColdLosses"/>): a collection that lacks a piece goes as a whole, and so
/// do pieces whose root is lost. Before anything of a log is done to what is left: a change that meets half a collection has no answer. Nobody else works with the
/// store, and nothing is written to its tier.
/// </summary>
public static unsafe class Salvage
{
    private const int RoundsMax = 1 << 20;

    /// <summary>Removes what is not whole. What goes beside what the losses have already is noted there.</summary>
    public static void MakeWhole(Store store, ColdLosses losses)
    {
        ArgumentNullException.ThrowIfNull(store);
        ArgumentNullException.ThrowIfNull(losses);
        if (losses.HasAny)
        {
            Parallel.For(0, store.Partitions, number =>
            {
                using HalfValues halves = new(store.Core, store.Core.Shape->Partitions + number, store.Settings.ValueCheck);
                halves.Remove(losses);
            });
        }
        Tidy(store);
    }

    /// <summary>Pieces of what is gone go too: as long as there are some, a snapshot that names has to look at every piece.</summary>
    public static void Tidy(Store store)
    {
        ArgumentNullException.ThrowIfNull(store);
        for (int rounds = 0; rounds < RoundsMax && HasOrphans(store.Core); rounds++) store.Movers.Step(store.Movers.NowMs);
    }

    /// <summary>Values in all databases.</summary>
    public static long CountValues(Store store)
    {
        ArgumentNullException.ThrowIfNull(store);
        int[] databases = store.Core.Databases;
        long values = 0;
        for (uint ns = 0; ns < databases.Length; ns++) values += databases[ns] >= 0 ? store.Count(ns) : 0;
        return values;
    }

    private static bool HasOrphans(StoreCore core)
    {
        for (int i = 0; i < core.Shape->PartitionCount; i++)
        {
            if (core.Shape->Partitions[i].Orphans != null)
                return true;
        }
        return false;
    }
}
