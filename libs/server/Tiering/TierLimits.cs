using Garnet.Common;
using Tsavorite;

namespace Garnet.Server.Tiering;

/// <summary>What the settings say of how a tier is used, told to the store at the start and whenever it is changed.</summary>
internal static class TierLimits
{
    internal static void Follow(Store store, TierSettings settings, SettingTable table)
    {
        void Take()
        {
            store.Promotion = settings.Promotion;
            store.LimitTierWrites(settings.WriteRateBytes, settings.WritePerDayBytes);
            store.LimitTierReads(settings.ReadTimeoutMs);
        }

        table.OnSet(["tier-promotion", "tier-write-rate", "tier-write-per-day", "tier-read-timeout"], Take);
        Take();
    }
}
