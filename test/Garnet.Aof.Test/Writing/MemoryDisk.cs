using System.Runtime.CompilerServices;
using Garnet.Aof.Disk;

namespace Garnet.Aof.Test.Writing;

/// <summary>
/// A disk in memory that is strict about alignment and shows the tests what is done to it. Hooks run on the caller's
/// thread before the step, and may throw or wait.
/// </summary>
internal sealed class MemoryDisk : IDisk
{
    public const int DirectAlignment = 4096;
    private readonly Lock _gate = new();
    private readonly SortedDictionary<string, Content> _files = new(StringComparer.Ordinal);

    public string Path => "memory";
    public Action<string>? OnCreate { get; set; }
    public Action<string>? OnOpen { get; set; }
    public Action<string, long>? OnWrite { get; set; }
    public Action<string>? OnSync { get; set; }
    public int Writes;
    public int Syncs;
    public int DirectorySyncs;
    /// <summary>Bytes all files may have together; a create or write beyond fails as on a full disk.</summary>
    public long Capacity = long.MaxValue;

    /// <summary>Not null: a sync is a fence of the thread that has written, and so many bytes at once are written as by a copy.</summary>
    public long? FenceRoom { get; set; }
    /// <summary>What was done that no fence makes good; null = nothing.</summary>
    public string? Unfenced { get; private set; }

    public static DiskException Full(string operation, string name) => new(operation, name, "No space left on device", isFull: true);

    public static DiskException Broken(string operation, string name) => new(operation, name, "Input/output error", isFull: false);

    public IReadOnlyList<string> List()
    {
        lock (_gate) return [.. _files.Keys];
    }

    public byte[] Bytes(string name)
    {
        lock (_gate) return [.. _files[name].Bytes];
    }

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered)
    {
        OnCreate?.Invoke(name);
        lock (_gate)
        {
            if (_files.ContainsKey(name)) throw new DiskException("create", name, "File exists", isFull: false);
            if (_files.Values.Sum(static file => (long)file.Bytes.Length) + bytes > Capacity) throw Full("create", name);
            _files[name] = new Content(new byte[bytes]);
            return new OpenFile(this, name, _files[name], caching == FileCaching.Direct && FenceRoom is null ? DirectAlignment : 1);
        }
    }

    public IDiskFile Open(string name)
    {
        OnOpen?.Invoke(name);
        lock (_gate)
        {
            if (!_files.TryGetValue(name, out Content? content)) throw new DiskException("open", name, "No such file", isFull: false);
            return new OpenFile(this, name, content, 1);
        }
    }

    public void Rename(string from, string to)
    {
        lock (_gate)
        {
            _files.Remove(from, out Content? content);
            _files[to] = content!;
        }
    }

    public void Delete(string name)
    {
        lock (_gate)
        {
            if (!_files.Remove(name)) throw new DiskException("delete", name, "No such file", isFull: false);
        }
    }

    public byte[] MarkOf(string name)
    {
        lock (_gate) return _files.TryGetValue(name, out Content? content) ? BitConverter.GetBytes(content.Number) : [];
    }

    public void SyncDirectory() => Interlocked.Increment(ref DirectorySyncs);

    private sealed class Content(byte[] bytes)
    {
        private static long s_made;
        public readonly long Number = Interlocked.Increment(ref s_made);
        public byte[] Bytes = bytes;
    }

    private sealed class OpenFile(MemoryDisk disk, string name, Content content, int alignment) : IDiskFile
    {
        private int _storedBy; // the thread, until it fences

        public long Length => content.Bytes.Length;
        public int Alignment => alignment;
        public bool SyncIsFence => disk.FenceRoom is not null;
        public long CopyRoom => disk.FenceRoom ?? (alignment == 1 ? long.MaxValue : 0);

        public unsafe void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            disk.OnWrite?.Invoke(name, offset);
            long address = (long)Unsafe.AsPointer(ref Unsafe.AsRef(in bytes[0]));
            if ((offset | (long)bytes.Length | address) % alignment != 0)
                throw new DiskException("write", name, "Invalid argument", isFull: false);
            StoredOrFenced(isFence: false);
            lock (disk._gate)
            {
                if (content.Bytes.Length < offset + bytes.Length) Array.Resize(ref content.Bytes, (int)offset + bytes.Length);
                bytes.CopyTo(content.Bytes.AsSpan((int)offset));
            }
            Interlocked.Increment(ref disk.Writes);
        }

        public int Read(long offset, Span<byte> to)
        {
            lock (disk._gate)
            {
                int bytes = (int)Math.Clamp(content.Bytes.Length - offset, 0, to.Length);
                content.Bytes.AsSpan((int)offset, bytes).CopyTo(to);
                return bytes;
            }
        }

        public void Sync()
        {
            disk.OnSync?.Invoke(name);
            StoredOrFenced(isFence: true);
            Interlocked.Increment(ref disk.Syncs);
        }

        // media.P2
        private void StoredOrFenced(bool isFence)
        {
            if (!SyncIsFence) return;
            int me = Environment.CurrentManagedThreadId, before = Interlocked.Exchange(ref _storedBy, isFence ? 0 : me);
            if (before != 0 && before != me) disk.Unfenced = $"{name}: {(isFence ? "a fence after" : "a store behind")} another thread's store that was not fenced";
        }

        public void SetLength(long bytes)
        {
            lock (disk._gate) Array.Resize(ref content.Bytes, (int)bytes);
        }

        public void Dispose()
        {
        }
    }
}
