using System.Buffers.Binary;
using System.Collections.Concurrent;
using Garnet.Aof.Pm;
using Garnet.Common.Linux;

namespace Garnet.Aof.Disk;

/// <summary>
/// A directory of the real file system.
/// Files are readable by their owner only (mode 0600), and a symbolic link in place of one is refused.
/// </summary>
public sealed unsafe class FileDisk : IDisk
{
    private readonly ConcurrentDictionary<string, StagedFile> _staged = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, PmFile> _fenced = new(StringComparer.Ordinal);
    private readonly StagingPool _rings = new();
    private readonly PmRings? _pm;
    private readonly bool _linux = OperatingSystem.IsLinux();

    /// <summary>Uses an existing directory, and for files of the log rings in persistent memory, which are this disk's from now on.</summary>
    /// <exception cref="DiskException">There is none.</exception>
    public FileDisk(string path, PmRings? pm = null)
    {
        _pm = pm;
        Path = System.IO.Path.GetFullPath(path);
        if (!Directory.Exists(Path))
            throw new DiskException("open", Path, "no such directory", isFull: false);
    }

    /// <inheritdoc/>
    public string Path { get; }

    /// <inheritdoc/>
    public PmRings? Memory => _pm;

    /// <inheritdoc/>
    public IReadOnlyList<string> List()
    {
        try
        {
            string[] names = [.. Directory.EnumerateFiles(Path).Select(static file => System.IO.Path.GetFileName(file))];
            Array.Sort(names, StringComparer.Ordinal);
            return names;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new DiskException("list", Path, e.Message, isFull: false);
        }
    }

    /// <inheritdoc/>
    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered)
    {
        if (!_linux)
            return PortableFile.Create(In(name), bytes);
        IDiskFile MakePlain() => LinuxFile.Create(In(name), bytes, FileCaching.Buffered);
        if (caching == FileCaching.Direct && _pm?.TryCreate(name, MakePlain) is { } fenced)
        {
            _fenced[name] = fenced;
            fenced.StartDraining();
            return fenced;
        }
        if (caching != FileCaching.Staged || StagedFile.TryCreate(In(name), bytes, _rings) is not { } staged)
            return LinuxFile.Create(In(name), bytes, caching);
        _staged[name] = staged;
        return staged;
    }

    /// <inheritdoc/>
    public IDiskFile Open(string name) => Open(name, FileAccess.ReadWrite);

    /// <inheritdoc/>
    public IDiskFile OpenToRead(string name) => Open(name, FileAccess.Read);

    private IDiskFile Open(string name, FileAccess access)
    {
        if (!_linux)
            return PortableFile.Open(In(name), access);
        LinuxFile file = LinuxFile.Open(In(name), access);
        if (_fenced.TryGetValue(name, out PmFile? fenced) && fenced.IsOpen)
            return new PmReader(fenced, file);
        return _staged.TryGetValue(name, out StagedFile? staged) && staged.IsOpen ? new StagedReader(staged, file) : file;
    }

    /// <inheritdoc/>
    public byte[] MarkOf(string name)
    {
        if (!_linux)
            return [];
        FileFacts? facts;
        fixed (byte* path = LinuxFile.Text(In(name))) facts = Libc.FactsOf(path);
        if (facts is not { IsFile: true, IsOthersToo: false } file || file.Owner != Libc.geteuid())
            return [];
        byte[] mark = new byte[3 * sizeof(long)];
        BinaryPrimitives.WriteUInt64LittleEndian(mark, file.Inode);
        BinaryPrimitives.WriteInt64LittleEndian(mark.AsSpan(sizeof(long)), file.ChangedSeconds);
        BinaryPrimitives.WriteInt64LittleEndian(mark.AsSpan(2 * sizeof(long)), file.ChangedNs);
        return [.. mark, .. MachineId.Value]; // an archive's maker may guess a clock, but not this
    }

    /// <inheritdoc/>
    public void Tidy() => _rings.Clear();

    /// <inheritdoc/>
    public void LetGo() => _pm?.Dispose();

    /// <inheritdoc/>
    public IReadOnlyList<string> Complete() => _linux ? [.. TailFiles.Complete(this), .. _pm?.Complete(this) ?? []] : [];

    /// <inheritdoc/>
    public void Expect(int files) => _pm?.Divide(files, Path);

    /// <inheritdoc/>
    public void Rename(string from, string to)
    {
        if (!_linux)
        {
            PortableFile.Rename(In(from), In(to));
            return;
        }
        LinuxFile.Rename(In(from), In(to));
    }

    /// <inheritdoc/>
    public void Delete(string name)
    {
        _ = _staged.TryRemove(name, out _);
        _ = _fenced.TryRemove(name, out _);
        if (!_linux)
        {
            PortableFile.Delete(In(name));
            return;
        }
        fixed (byte* path = LinuxFile.Text(In(name)))
        {
            if (Libc.unlink(path) != 0)
                throw LinuxFile.Failure("delete", In(name));
        }
    }

    /// <inheritdoc/>
    public void SyncDirectory()
    {
        if (!_linux)
            return; // no portable call; where there is none, the file system journals names by itself
        int directory;
        fixed (byte* path = LinuxFile.Text(Path)) directory = Libc.open(path, Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_CLOEXEC, 0);
        if (directory < 0)
            throw LinuxFile.Failure("open", Path);
        bool synced = Libc.fsync(directory) == 0;
        DiskException? failure = synced ? null : LinuxFile.Failure("sync", Path);
        _ = Libc.close(directory);
        if (failure != null)
            throw failure;
    }

    private string In(string name)
    {
        bool plain = name.Length > 0 && name != "." && name != ".." && !name.AsSpan().ContainsAny('/', '\0', '\\');
        if (!plain)
            throw new DiskException("name", name, "not a plain file name", isFull: false);
        return System.IO.Path.Combine(Path, name);
    }
}
