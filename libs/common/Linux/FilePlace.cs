using System.ComponentModel;
using System.Text;

namespace Garnet.Common.Linux;

/// <summary>
/// Puts a file in the place of another, so that after a power cut it is one or the other, and this one once it has been said to be there: a new
/// name is durable only when its directory is.
/// </summary>
public static unsafe class FilePlace
{
    /// <summary>Gives the file, which has been synced, the name; one that has it is replaced.</summary>
    /// <exception cref="IOException">It cannot be done, or nobody can tell whether the name is durable.</exception>
    public static void Take(string from, string name)
    {
        File.Move(from, name, overwrite: true);
        string directory = Path.GetDirectoryName(Path.GetFullPath(name)) ?? "/";
        if (OperatingSystem.IsLinux() && SyncDirectory(directory) is not 0 and var error) // elsewhere there is no portable call
        {
            throw new IOException(
                $"it is there, but its directory cannot be synced ({new Win32Exception(error).Message}): a power cut may undo it");
        }
    }

    /// <summary>Makes the names in a directory durable; 0, or why it cannot be done (errno).</summary>
    public static int SyncDirectory(string path)
    {
        fixed (byte* name = Encoding.UTF8.GetBytes(path + '\0'))
        {
            int directory = Libc.open(name, Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_CLOEXEC, 0);
            if (directory < 0)
                return Libc.Errno;
            int error = Libc.fsync(directory) == 0 ? 0 : Libc.Errno;
            _ = Libc.close(directory);
            return error;
        }
    }
}
