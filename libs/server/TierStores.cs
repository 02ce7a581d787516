using Garnet.Aof.Format;
using Garnet.Media;
using Garnet.Server.Tiering;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Server;

/// <summary>
/// Stores that a directory's data are read into without a server, as at a start: whatever the limit, and nothing goes by its own. They share the tier's file, so there is one of them at a time.
/// </summary>
internal sealed class TierStores : IDisposable
{
    private LayeredMedium? _tier;
    private bool _isLookedFor;

    /// <summary>Says that the tier's file is not where it was; null if it is, or has not been looked for.</summary>
    internal string? Missing { get; private set; }

    /// <summary>False if the manifest had to be made anew, and where the file is has been lost.</summary>
    internal bool IsPlaceKnown { get; private set; } = true;

    /// <summary>A store that reads what snapshots name, and has all of it in memory then.</summary>
    internal Store OpenToJudge(Manifest manifest) => Open(Settings(manifest) with { Named = Tier(manifest) });

    /// <summary>A store that goes on with the tier.</summary>
    internal Store OpenOver(Manifest manifest)
    {
        LayeredMedium? tier = Tier(manifest);
        StoreSettings plain = Settings(manifest);
        return Open(tier is null ? plain : plain with { Tier = tier, TierId = manifest.Tier!.Id, IndexBuckets = (int)tier.Note });
    }

    /// <inheritdoc/>
    public void Dispose() => _tier?.Dispose();

    private LayeredMedium? Tier(Manifest manifest)
    {
        if (_isLookedFor || manifest.Tier is not { } named)
            return _tier;
        _isLookedFor = true;
        _tier = TierMedium.Look(named);
        IsPlaceKnown = named.Path != TierName.UnknownPath;
        bool hasDisk = named.Path.Length == 0 || _tier?.Disk is not null;
        bool hasMemory = named.MemoryPath.Length == 0 || _tier?.Memory is not null;
        if (!IsPlaceKnown)
        {
            Missing = $"Where the tier's file is, tier-{named.Id:x32}, nothing says any more: "
                + "start the server once with its tier-path and tier-pm-path, which writes it down.";
        }
        else if (!hasDisk)
            Missing = $"The tier's file, tier-{named.Id:x32}, is not in {named.Path}.";
        if (IsPlaceKnown && !hasMemory)
            Missing = $"{(hasDisk ? "" : Missing + " ")}The tier's file in persistent memory, tier-{named.Id:x32}.pm, "
                + $"is not in {named.MemoryPath}.";
        return _tier;
    }

    private static StoreSettings Settings(Manifest manifest) => new()
    {
        MemoryLimitBytes = MemoryPlan.LimitBytes(0, hasTier: true), ValueCheck = ValueCheck.Instance, HashSeed = manifest.HashSeed,
        Partitions = manifest.Lanes, BackgroundMovers = false,
    };

    private static Store Open(StoreSettings settings)
    {
        var store = new Store(settings);
        store.Logging = false;
        store.PauseExpiry(true);
        store.SetMemoryLimit(0);
        store.Promotion = TierPromotion.No;
        return store;
    }
}
