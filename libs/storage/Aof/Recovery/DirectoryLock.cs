using System.Globalization;
using System.Runtime.Versioning;
using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;
using Microsoft.Win32.SafeHandles;

namespace Garnet.Aof.Recovery;

/// <summary>
/// The lock of a data directory: an exclusive lock on the file <c>lock</c>, which names its holder. The system gives it up
/// when the holder ends, however it ends; the file stays.
/// </summary>
[SupportedOSPlatform("linux")]
internal sealed class DirectoryLock : IDisposable
{
    internal const string FileName = "lock";
    private const int TextBytesMax = 32;

    private readonly SafeFileHandle _file;

    private DirectoryLock(SafeFileHandle file) => _file = file;

    public static DirectoryLock Take(string directory)
    {
        SafeFileHandle file = Open(Path.Combine(directory, FileName));
        if (!Libc.TryLock((int)file.DangerousGetHandle()))
        {
            string holder = Holder(file);
            file.Dispose();
            throw new GarnetException(ExitKind.Data, $"the data directory is in use: {directory}", $"process {holder} has locked it",
                "Stop that process first, or name another directory");
        }
        WriteHolder(file);
        return new DirectoryLock(file);
    }

    // It only says to others who holds the lock, which holds without it: on a full disk whoever has to write something else tells of that.
    private static void WriteHolder(SafeFileHandle file)
    {
        try
        {
            RandomAccess.SetLength(file, 0);
            RandomAccess.Write(file, Encoding.ASCII.GetBytes(Environment.ProcessId.ToString(CultureInfo.InvariantCulture) + "\n"), 0);
        }
        catch (Exception e) when (e is IOException or ArgumentOutOfRangeException)
        {
            // Holder has a word for it; the second is what .NET makes of EFBIG.
        }
    }

    public void Dispose() => _file.Dispose();

    private static unsafe SafeFileHandle Open(string path)
    {
        int descriptor;
        fixed (byte* bytes = Encoding.UTF8.GetBytes(path + '\0')) descriptor = Libc.OpenLockFile(bytes);
        int errno = Libc.Errno;
        if (descriptor >= 0)
            return new SafeFileHandle(descriptor, ownsHandle: true);
        throw DirectoryGuard.Refused(path, $"it cannot be opened for writing (errno {errno})",
            "Make the directory writable for the server's user; a file system mounted read-only cannot hold it.");
    }

    private static string Holder(SafeFileHandle file)
    {
        Span<byte> text = stackalloc byte[TextBytesMax];
        int bytes = RandomAccess.Read(file, text, 0);
        string holder = Encoding.ASCII.GetString(text[..bytes]).Trim();
        return holder.Length > 0 ? holder : "(it has not written its number, or could not)";
    }
}
