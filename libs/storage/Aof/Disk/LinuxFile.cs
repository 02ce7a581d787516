using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Aof.Disk;

/// <summary>
/// A file of <see cref="FileDisk"/> over the calls of the C library. Writes may bypass the page cache; reads never do,
/// through a descriptor of their own, so that they need no alignment.
/// </summary>
internal sealed unsafe class LinuxFile : IDiskFile
{
    private const int DirectAlignment = 4096, SeekEnd = 2, SeekData = 3, SeekHole = 4;
    private const uint OwnerOnly = 0x180; // 0600
    private readonly string _path;
    private int _writing, _reading = -1;

    private LinuxFile(string path, int descriptor, int alignment)
    {
        _path = path;
        _writing = descriptor;
        Alignment = alignment;
    }

    public int Alignment { get; private set; }

    /// <summary>What the system knows the open file by.</summary>
    public int Descriptor => _writing;

    public long Length
    {
        get
        {
            long bytes = Libc.lseek(_writing, 0, SeekEnd);
            return bytes >= 0 ? bytes : throw Failure("measure", _path);
        }
    }

    // Room set aside and never written is a hole, until somebody reads it into the page cache.
    public long DataEnd
    {
        get
        {
            long end = 0, next;
            while ((next = Libc.lseek(_writing, end, SeekData)) >= 0 && (next = Libc.lseek(_writing, next, SeekHole)) > end) end = next;
            return next < 0 && Libc.Errno == Libc.ENXIO ? end : Length;
        }
    }

    public static LinuxFile Create(string path, long bytes, FileCaching caching)
    {
        const int Flags = Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL;
        int descriptor = caching == FileCaching.Direct ? Open(path, Flags | Libc.O_DIRECT) : -1;
        bool direct = descriptor >= 0;
        if (!direct && caching == FileCaching.Direct && Libc.Errno == Libc.EINVAL)
            _ = Unlink(path); // the name may be left behind by the refused open
        if (!direct)
            descriptor = Open(path, Flags);
        if (descriptor < 0)
            throw Failure("create", path);
        var file = new LinuxFile(path, descriptor, direct ? DirectAlignment : 1);
        try
        {
            file.SetRoomAside(bytes);
            return file;
        }
        catch (DiskException)
        {
            file.Dispose();
            _ = Unlink(path);
            throw;
        }
    }

    public static LinuxFile Open(string path, FileAccess access = FileAccess.ReadWrite)
    {
        int descriptor = Open(path, access == FileAccess.Read ? Libc.O_RDONLY : Libc.O_RDWR);
        return descriptor >= 0 ? new LinuxFile(path, descriptor, 1) : throw Failure("open", path);
    }

    /// <summary>Deletes a file if it is there.</summary>
    public static void Delete(string path) => _ = Unlink(path);

    /// <summary>Gives a file another name, replacing one that has it.</summary>
    public static void Rename(string from, string to)
    {
        fixed (byte* source = Text(from), target = Text(to))
        {
            if (Libc.rename(source, target) != 0)
                throw Failure("rename", from);
        }
    }

    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        fixed (byte* from = bytes)
        {
            int done = 0;
            while (done < bytes.Length)
            {
                nint written = Libc.pwrite(_writing, from + done, bytes.Length - done, offset + done);
                if (written > 0)
                    done += (int)written;
                else if (written == 0)
                    throw new DiskException("write", _path, "nothing was taken", isFull: false);
                else if (Libc.Errno == Libc.EINVAL && Alignment > 1)
                    UsePageCache();
                else if (Libc.Errno != Libc.EINTR)
                    throw Failure("write", _path);
            }
        }
    }

    public int Read(long offset, Span<byte> to)
    {
        if (_reading < 0)
            _reading = Alignment == 1 ? _writing : Open(_path, Libc.O_RDONLY);
        if (_reading < 0)
            throw Failure("open", _path);
        fixed (byte* into = to)
        {
            int done = 0;
            while (done < to.Length)
            {
                nint read = Libc.pread(_reading, into + done, to.Length - done, offset + done);
                if (read == 0)
                    break;
                if (read > 0)
                    done += (int)read;
                else if (Libc.Errno != Libc.EINTR)
                    throw Failure("read", _path);
            }
            return done;
        }
    }

    public void Sync()
    {
        if (Libc.fdatasync(_writing) != 0)
            throw Failure("sync", _path);
        if (!Libc.HasName(_writing))
            throw new DiskException("sync", _path, "the file has been deleted", isFull: false);
    }

    public void BeginSync(long from, long to)
    {
        const uint Write = 2;
        if (Alignment == 1 && to > from)
            _ = Libc.sync_file_range(_writing, from, to - from, Write);
    }

    public void SetLength(long bytes)
    {
        while (Libc.ftruncate(_writing, bytes) != 0)
        {
            if (Libc.Errno != Libc.EINTR)
                throw Failure("set the length of", _path);
        }
    }

    public void Dispose()
    {
        if (_reading >= 0 && _reading != _writing)
            _ = Libc.close(_reading);
        if (_writing >= 0)
            _ = Libc.close(_writing);
        _reading = _writing = -1;
    }

    /// <summary>The failure of the call made last, by errno.</summary>
    internal static DiskException Failure(string operation, string path, string more = "")
    {
        int errno = Libc.Errno;
        return new DiskException(operation, path, Marshal.GetPInvokeErrorMessage(errno) + more, errno is Libc.ENOSPC or Libc.EDQUOT);
    }

    /// <summary>The path as the C library wants it.</summary>
    internal static byte[] Text(string path) => Encoding.UTF8.GetBytes(path + '\0');

    private static int Open(string path, int flags)
    {
        fixed (byte* name = Text(path)) return Libc.open(name, flags | Libc.O_CLOEXEC | Libc.O_NOFOLLOW, OwnerOnly);
    }

    private static int Unlink(string path)
    {
        fixed (byte* name = Text(path)) return Libc.unlink(name);
    }

    // Room set aside keeps a write from failing for lack of space in the middle of a segment, where the file system can.
    private void SetRoomAside(long bytes)
    {
        if (bytes == 0)
            return;
        int result;
        do result = Libc.fallocate(_writing, 0, 0, bytes);
        while (result != 0 && Libc.Errno == Libc.EINTR);
        if (result == 0)
            return;
        if (Libc.Errno != Libc.EOPNOTSUPP)
            throw Failure("set room aside in", _path, $"; it takes {SettingText.PrintMemory(bytes)} at once");
        SetLength(bytes);
    }

    // Some file systems grant direct access when a file is opened and refuse it when it is used.
    private void UsePageCache()
    {
        int descriptor = Open(_path, Libc.O_RDWR);
        if (descriptor < 0)
            throw Failure("open", _path);
        _ = Libc.close(_writing);
        _writing = descriptor;
        Alignment = 1;
    }
}
