using Garnet.Common;

namespace Tsavorite;

/// <summary>
/// What an edit comes to that has changed more than can be taken back (<see cref="BeforeImages"/>): it cannot fail any more, so that a slow disk is waited for however many
/// others wait, and a disk that is silent is asked again.
/// </summary>
internal static unsafe class SureReads
{
    /// <summary>
    /// For one chunk. The kernel gives a disk 30 seconds for a command, and resets it then (block/timeout, nvme_core.io_timeout): one that has brought nothing twice as long is gone.
    /// </summary>
    public const long LongestUs = 60_000_000;

    /// <summary>The same for what the device says that it cannot read: it has tried for long itself, or fails for a moment.</summary>
    public const long FailingUs = 1_000_000;

    /// <summary><see cref="ColdLooks.FindChunk"/>, with what is missing fetched.</summary>
    /// <exception cref="GarnetException">It cannot be read.</exception>
    public static byte* FindChunkSurely(this ref RecordEdit edit, ColdReads cold, ref ChunkPlace place, in ChunkName name)
    {
        ColdTier tier = edit.Core.Tier!;
        long lateUs = 0, failedUs = 0; // since when it has been so
        cold.Patience.BeginEndless();
        try
        {
            while (true)
            {
                try
                {
                    byte* image = cold.FindChunk(edit.Core.Shape, edit.Partition, place.Bucket, name, out place.Slot);
                    if (image != null || !cold.HasMissing)
                        return image;
                    edit.LookBehind(cold, place.Number);
                    cold.Fetch(mayThrow: false);
                }
                catch (GarnetException)
                {
                    bool goesOn = cold.MetLate ? IsWithin(LongestUs, tier.NowUs, ref lateUs)
                        : IsWithin(FailingUs, tier.NowUs, ref failedUs);
                    if (!goesOn)
                        throw;
                    cold.AskAgain();
                }
            }
        }
        finally
        {
            cold.Patience.EndEndless();
        }
    }

    private static bool IsWithin(long longestUs, long nowUs, ref long sinceUs)
    {
        if (sinceUs == 0)
            sinceUs = nowUs;
        return nowUs - sinceUs < longestUs;
    }
}
