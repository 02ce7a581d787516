using Garnet.Common.Linux;

namespace Garnet.Server.Rights;

/// <summary>The ACL file on its disk. It is whole at every moment: another one is written, synced and put in its place (<see cref="FilePlace"/>).</summary>
internal static class AclDisk
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>The file's text, a character for a byte.</summary>
    /// <exception cref="IOException">It is no file, too long, or cannot be read.</exception>
    internal static string Read(string path) => RuleText.Of(PlainFile.Read(path, AclFile.BytesMax));

    /// <summary>Replaces the file's text. Nobody else may read it, but for whom the file that was there has allowed it.</summary>
    internal static void Write(string path, string text)
    {
        string temporary = $"{path}.{Environment.ProcessId}.{Guid.NewGuid():n}.tmp";
        try
        {
            using (FileStream stream = Create(temporary, path))
            {
                stream.Write(RuleText.Bytes(text));
                stream.Flush(flushToDisk: true);
            }

            FilePlace.Take(temporary, path);
        }
        finally
        {
            File.Delete(temporary);
        }
    }

    private static FileStream Create(string temporary, string path)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (OperatingSystem.IsWindows())
            return new FileStream(temporary, options);
        options.UnixCreateMode = OwnerOnly;
        var stream = new FileStream(temporary, options);
        if (File.Exists(path))
            File.SetUnixFileMode(stream.SafeFileHandle, File.GetUnixFileMode(path));
        return stream;
    }
}
