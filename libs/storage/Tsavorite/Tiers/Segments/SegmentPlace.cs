using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// Segments of a tier as people are told of them: by their number and place within the file that they lie in. Those of the file on the disk are counted as words
/// name them; those in persistent memory begin far behind (<see cref="LayeredMedium.MemoryFrom"/>), where no file has anything.
/// </summary>
internal static class SegmentPlace
{
    /// <summary>A segment by its number.</summary>
    public static string Of(uint number, int segmentBytes, MediumId id) => Of([number], segmentBytes, id);

    /// <summary>A place of the medium.</summary>
    public static string At(long offset, int segmentBytes, MediumId id)
    {
        bool isInMemory = IsInMemory(offset);
        return $"{Of((uint)(offset / segmentBytes), segmentBytes, id)}, offset {offset - (isInMemory ? LayeredMedium.MemoryFrom : 0)}";
    }

    /// <summary>Several of them, those of each file together.</summary>
    public static string Of(IEnumerable<uint> numbers, int segmentBytes, MediumId id)
    {
        IEnumerable<string> told = numbers.GroupBy(number => IsInMemory((long)number * segmentBytes)).OrderBy(static file => file.Key)
            .Select(file => $"segment {string.Join(", ", file.Select(number => NumberIn(number, segmentBytes)))}"
                + (file.Key ? FileOf(id) : ""));
        return string.Join("; ", told);
    }

    /// <summary>The setting that says where the file of the place is.</summary>
    public static string SettingOf(long offset) => (IsInMemory(offset) ? KeptPart.Memory : KeptPart.Disk).PathSetting;

    private static bool IsInMemory(long offset) => offset >= LayeredMedium.MemoryFrom;

    private static long NumberIn(uint number, int segmentBytes) =>
        number - (IsInMemory((long)number * segmentBytes) ? LayeredMedium.MemoryFrom / segmentBytes : 0);

    // What is scratch has no name.
    private static string FileOf(MediumId id) =>
        id.IsNone ? " in persistent memory" : $" of {KeptPart.Memory.FileName(id)} in persistent memory";
}
