using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Server.Rights;

/// <summary>The ACL file on its disk. It is whole at every moment: another one is written, synced and put in its place.</summary>
internal static class AclDisk
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>The file's text, a character for a byte.</summary>
    /// <exception cref="GarnetException">It is no file, or too long.</exception>
    internal static string Read(string path)
    {
        // To open a pipe would be to wait for who writes to it.
        bool isFile = !OperatingSystem.IsLinux() || Libc.FactsBehindLinks(path) is null or { IsFile: true };
        using FileStream? stream = isFile ? new FileStream(path, FileMode.Open, FileAccess.Read) : null;
        if (stream is not { CanSeek: true })
            throw new GarnetException(ExitKind.Configuration, path, "it is not a file", "Name the file of users");
        if (stream.Length > AclFile.BytesMax)
            throw new GarnetException(ExitKind.Configuration, path, $"it has more than {AclFile.BytesMax} bytes", "Name the file of users");
        byte[] bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return RuleText.Of(bytes);
    }

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

            File.Move(temporary, path, overwrite: true);
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
