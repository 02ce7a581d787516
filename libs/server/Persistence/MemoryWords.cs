using Garnet.Aof.Pm;
using Garnet.Common;
using Garnet.Media;

namespace Garnet.Server.Persistence;

/// <summary>What people should know of the persistent memory under the log from the start, and which of it is a warning.</summary>
internal static class MemoryWords
{
    private const string Setting = "aof-pm-path";

    /// <summary>The lines; none without such memory.</summary>
    internal static IReadOnlyList<(bool IsWarning, string Text)> Of(PmRings? memory, PersistenceSettings settings)
    {
        if (memory is null)
            return [];
        string domain = PersistenceDomains.NameOf(memory.Domain), size = SettingText.PrintMemory(memory.Bytes);
        if (!settings.AppendOnly)
            return [(true, $"{Setting} is not used: there is no append-only file; appendonly yes keeps one")];
        if (!memory.IsUsed)
        {
            return [(true, $"{Setting} is not used, replies wait for the disk: the system does not call {memory.Path} persistent memory "
                + $"({domain}); name a file on a file system that is mounted with DAX, or, if you know that it outlives the machine, "
                + "set pm-emulated-trust yes")];
        }

        const string Use = "with appendfsync always, what is acknowledged is durable there first";
        var lines = new List<(bool, string)> { (false, $"Persistent memory: {size} in {memory.Path}, {domain}; {Use}") };
        if (!memory.Domain.IsRealPm())
            lines.Add((true, $"{memory.Path} is trusted (pm-emulated-trust){Doubt(memory)}"));
        if (settings.AppendSync != AppendSync.Always)
            lines.Add((true, $"{Setting} has no effect before appendfsync is always: replies do not wait for what it speeds up"));
        return lines;
    }

    private static string Doubt(PmRings memory) => memory.IsMemory
        ? " and lies in memory (tmpfs): the end of the machine takes what was acknowledged last"
        : ", and the system does not call it persistent memory: what was acknowledged last outlives the machine only if that does";
}
