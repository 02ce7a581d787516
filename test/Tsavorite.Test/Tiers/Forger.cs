namespace Tsavorite.Test.Tiers;

/// <summary>Who may write to a tier's file, and does not know its secret.</summary>
internal static unsafe class Forger
{
    /// <summary>What becomes of a record, of so many bytes.</summary>
    public delegate void Harm(byte* record, int bytes);

    /// <summary>Does that to all records on the medium that are of such kinds, and gives each the CRC32C that fits; how many they are.</summary>
    public static int Forge(this Bench bench, SimulatedMedium medium, Predicate<RecordKind> which, Harm harm)
    {
        ColdLayers segments = bench.Store.Core.Tier!.Segments;
        int forged = 0;
        foreach (uint number in segments.Numbers)
        {
            ColdSegment* segment = segments[number];
            long start = segments.OffsetOf(number);
            if (segment->Band == segments.RunBand)
                forged += TryForge(medium, segments.RunOf(number, segment->Parts), segments.PlaceOf(start + ColdSegments.PageBytes), which, harm) ? 1 : 0;
            for (int at = ColdHead.Bytes; segment->Band < segments.RunBand && at < segment->Used; at += ColdAddress.UnitBytes)
                forged += TryForge(medium, [new ColdPart(start + at, segment->Used - at)], segments.PlaceOf(start + at), which, harm) ? 1 : 0;
        }
        return forged;
    }

    /// <summary>What lies there is as the build wrote it that knew of no secret, and so is a list that names it.</summary>
    public static void AgeTo(this Bench bench, SimulatedMedium medium, NamingList list)
    {
        bench.Forge(medium, static kind => kind != RecordKind.String, static (_, _) => { });
        foreach (byte[] block in list.Segments) block.AsSpan(40, TierSecret.Bytes).Clear();
    }

    private static bool TryForge(SimulatedMedium medium, ColdPart[] parts, in ColdPlace place, Predicate<RecordKind> which, Harm harm)
    {
        byte[] all = [.. parts.SelectMany(part => medium.At(part.Offset, part.Bytes).ToArray()), .. new byte[64]];
        fixed (byte* image = all)
        {
            if (!ColdRecord.TryMeasure(image, all.Length - 64, place, out int bytes) || !which(Record.Kind(image)))
                return false;
            harm(image, bytes);
            *(uint*)image = ColdRecord.SumOf(image, bytes, place with { Secret = default });
        }
        int done = 0;
        foreach (ColdPart part in parts)
        {
            all.AsSpan(done, part.Bytes).CopyTo(medium.At(part.Offset, part.Bytes));
            done += part.Bytes;
        }
        return true;
    }
}
