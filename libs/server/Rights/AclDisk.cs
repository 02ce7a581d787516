using Garnet.Common;

namespace Garnet.Server.Rights;

/// <summary>The ACL file on its disk. It is whole at every moment: another one is written, synced and put in its place.</summary>
internal static class AclDisk
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>The file's text, a character for a byte.</summary>
    internal static string Read(string path)
    {
        using var stream = new FileStream(path, FileMode.Open, FileAccess.Read);
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
            using (var stream = new FileStream(temporary, FileMode.CreateNew, FileAccess.Write))
            {
                if (!OperatingSystem.IsWindows())
                    File.SetUnixFileMode(stream.SafeFileHandle, File.Exists(path) ? File.GetUnixFileMode(path) : OwnerOnly);
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
}
