using System.Runtime.Versioning;
using System.Text;
using Garnet.Aof.Format;
using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Whether a directory is one that data may be entrusted to: a real directory of our own that nobody else can write to, with
/// real files of our own. Everything else is refused before anything is read.
/// </summary>
[SupportedOSPlatform("linux")]
internal static class DirectoryGuard
{
    private const UnixFileMode Owner = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
    private const UnixFileMode OthersWrite = UnixFileMode.GroupWrite | UnixFileMode.OtherWrite;

    /// <summary>Creates the directory, readable by us only, if it is not there; the uppermost of those that were made, null if none was.</summary>
    public static string? Create(string path)
    {
        if (Path.Exists(path))
            return null;
        string above = Above(path);
        if (File.Exists(above))
            throw Wrong(path, $"{above} is a file, not a directory");
        try
        {
            Directory.CreateDirectory(path, Owner);
            return FirstBelow(above, path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refused(path, $"it cannot be made in {above} ({e.Message.TrimEnd('.')})",
                "Create it, owned by the server's user with mode 0700, or name another one.");
        }
    }

    public static void Judge(string path)
    {
        var directory = new DirectoryInfo(path);
        if (directory.LinkTarget != null)
            throw Refused(path, "it is a symbolic link", $"Name the directory it points to: {directory.LinkTarget}.");
        if (!directory.Exists)
            throw Wrong(path, "it is not a directory");
        UnixFileMode mode = File.GetUnixFileMode(path);
        if ((mode & OthersWrite) != 0)
            throw Refused(path, "others than its owner may write to it", (mode & UnixFileMode.StickyBit) != 0
                ? $"It is made for everybody: name a directory inside of it, such as {Path.Combine(path, "garnet")}."
                : $"Run: chmod 0700 {path}");
        if ((mode & Owner) != Owner)
            throw Refused(path, "its owner may not write to it", $"Run: chmod 0700 {path}");
        JudgeOwner(path);
        foreach (FileSystemInfo file in directory.EnumerateFileSystemInfos())
            if (IsOurs(file.Name))
                JudgeFile(file);
    }

    public static bool IsOurs(string name) =>
        name is Manifest.FileName or Manifest.NextFileName or Manifest.ReplacingFileName or DirectoryLock.FileName
        || LogFileName.TryParse(name, out _, out _) || SnapshotFileName.TryParse(name, out _);

    public static GarnetException Refused(string path, string why, string next) => Refused(ExitKind.Permission, path, why, next);

    // No right is missing: the setting names something else.
    private static GarnetException Wrong(string path, string why) => Refused(ExitKind.Configuration, path, why, "Name a directory.");

    private static GarnetException Refused(ExitKind kind, string path, string why, string next) =>
        new(kind, $"the data directory cannot be used: {path}", why, next);

    // The nearest that is there.
    private static string Above(string path)
    {
        string above = Path.GetFullPath(path);
        while (!Path.Exists(above) && Path.GetDirectoryName(above) is { } next) above = next;
        return above;
    }

    private static string FirstBelow(string above, string path)
    {
        string first = Path.GetFullPath(path);
        while (Path.GetDirectoryName(first) is { } next && next != above) first = next;
        return first;
    }

    private static void JudgeFile(FileSystemInfo file)
    {
        if (file.LinkTarget != null)
            throw Refused(file.FullName, "it is a symbolic link", "Put the file itself there.");
        if (file is DirectoryInfo)
            throw Refused(file.FullName, "it is a directory where a file should be", "Move it away.");
        JudgeOwner(file.FullName);
        if ((File.GetUnixFileMode(file.FullName) & OthersWrite) != 0)
            throw Refused(file.FullName, "others than its owner may write to it", $"Run: chmod 0600 {file.FullName}");
    }

    private static unsafe void JudgeOwner(string path)
    {
        uint? owner;
        fixed (byte* bytes = Encoding.UTF8.GetBytes(path + '\0')) owner = Libc.FactsOf(bytes)?.Owner;
        uint us = Libc.geteuid();
        if (owner == us)
            return;
        throw Refused(path, $"it belongs to user {owner}, and the server runs as user {us}",
            $"Run the server as its owner, or: chown {us} {path}");
    }
}
