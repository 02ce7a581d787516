using Microsoft.Win32.SafeHandles;

namespace Garnet.Aof.Disk;

/// <summary>A file of <see cref="FileDisk"/> where there is no Linux: buffered, over the runtime's own file calls.</summary>
internal sealed class PortableFile : IDiskFile
{
    private const int DiskFull = unchecked((int)0x80070070), HandleDiskFull = unchecked((int)0x80070027);
    private readonly string _path;
    private readonly SafeFileHandle _handle;

    private PortableFile(string path, SafeFileHandle handle)
    {
        _path = path;
        _handle = handle;
    }

    public long Length => RandomAccess.GetLength(_handle);
    public int Alignment => 1;

    public static PortableFile Create(string path, long bytes) => new(path,
        Try("create", path,
            () => File.OpenHandle(path, FileMode.CreateNew, FileAccess.ReadWrite, FileShare.Read, preallocationSize: bytes)))
    {
        Room = bytes,
    };

    public static PortableFile Open(string path, FileAccess access = FileAccess.ReadWrite) =>
        new(path, Try("open", path, () => File.OpenHandle(path, FileMode.Open, access, FileShare.Read)));

    public static void Rename(string from, string to) => Try("rename", from, () =>
    {
        File.Move(from, to, overwrite: true);
        return true;
    });

    public static void Delete(string path) => Try("delete", path, () =>
    {
        if (!File.Exists(path))
            throw new FileNotFoundException("no such file");
        File.Delete(path);
        return true;
    });

    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        try
        {
            RandomAccess.Write(_handle, bytes, offset);
        }
        catch (IOException e)
        {
            throw Failure("write", _path, e);
        }
    }

    public int Read(long offset, Span<byte> to)
    {
        try
        {
            int done = 0;
            for (int read = -1; read != 0 && done < to.Length; done += read) read = RandomAccess.Read(_handle, to[done..], offset + done);
            return done;
        }
        catch (IOException e)
        {
            throw Failure("read", _path, e);
        }
    }

    public void Sync() => Try("sync", _path, () =>
    {
        RandomAccess.FlushToDisk(_handle);
        return true;
    });

    public void SetLength(long bytes) => Try("set the length of", _path, () =>
    {
        RandomAccess.SetLength(_handle, bytes);
        return true;
    });

    public void Dispose() => _handle.Dispose();

    // The runtime sets the room aside without moving the end.
    private long Room
    {
        init
        {
            if (value > 0)
                SetLength(value);
        }
    }

    private static T Try<T>(string operation, string path, Func<T> step)
    {
        try
        {
            return step();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Failure(operation, path, e);
        }
    }

    private static DiskException Failure(string operation, string path, Exception e) =>
        new(operation, path, e.Message, e.HResult is DiskFull or HandleDiskFull);
}
