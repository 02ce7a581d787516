using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Reading;

/// <summary>The sublog files of a directory.</summary>
internal static class LogFiles
{
    /// <summary>All of them, by sublog and then oldest first.</summary>
    public static List<LogFile> All(IDisk disk)
    {
        var files = new List<LogFile>();
        foreach (string name in disk.List())
            if (LogFileName.TryParse(name, out int sublog, out ulong first))
                files.Add(new LogFile(name, sublog, first));
        return [.. files.OrderBy(static file => file.Sublog).ThenBy(static file => file.FirstBatch)];
    }

    public static List<LogFile> Of(IDisk disk, int sublog) => All(disk).FindAll(file => file.Sublog == sublog);

    public static long Bytes(IDisk disk, string name)
    {
        using IDiskFile file = disk.Open(name);
        return file.Length;
    }

    /// <summary>The same without room that was set aside behind them, as far as that can be told.</summary>
    public static long DataBytes(IDisk disk, string name)
    {
        using IDiskFile file = disk.Open(name);
        return file.DataEnd;
    }
}
