using Garnet.Aof.Disk;
using Garnet.Common;

namespace Garnet.Aof.Reading;

/// <summary>
/// A file read forward through one large block: a pointer to any run of bytes, read ahead as a whole. Offsets and
/// lengths of the reads are multiples of 4,096.
/// </summary>
internal sealed unsafe class DiskView(IDisk disk) : IDisposable
{
    public const int BlockBytes = 4 << 20;

    private readonly NativeBuffer _block = new();
    private IDiskFile? _file;
    private long _at, _bytes;

    public string Name { get; private set; } = "";
    public long Length { get; private set; }
    /// <summary>See <see cref="IDiskFile.DataEnd"/>, as it was when the file was opened.</summary>
    public long DataEnd { get; private set; }

    public void Open(string name)
    {
        if (name == Name)
            return;
        _file?.Dispose();
        _file = null;
        Name = "";
        _file = disk.Open(name);
        Name = name;
        Length = _file.Length;
        DataEnd = _file.DataEnd;
        _at = _bytes = 0;
    }

    /// <summary>The bytes at the offset, in place until the next call; null if the file ends before.</summary>
    public byte* At(long offset, long bytes)
    {
        if (bytes > Length - offset)
            return null;
        if (offset < _at || offset + bytes > _at + _bytes)
            Fill(offset, bytes);
        return offset + bytes > _at + _bytes ? null : _block.Bytes + (offset - _at);
    }

    private void Fill(long offset, long bytes)
    {
        _at = offset & -NativeBuffer.Alignment;
        long wanted = Math.Max(BlockBytes, offset + bytes - _at);
        wanted = (wanted + NativeBuffer.Alignment - 1) & -NativeBuffer.Alignment;
        if (_block.Capacity > 4 * BlockBytes && wanted == BlockBytes)
            _block.Dispose(); // a giant has been and gone
        _block.Grow(wanted, 0);
        for (_bytes = 0; _bytes < wanted;)
        {
            int read = _file!.Read(_at + _bytes, new Span<byte>(_block.Bytes + _bytes, (int)Math.Min(wanted - _bytes, 1 << 30)));
            _bytes += read;
            if (read == 0 || _bytes % NativeBuffer.Alignment != 0)
                return; // the end of the file
        }
    }

    public void Dispose()
    {
        _file?.Dispose();
        _block.Dispose();
    }
}
