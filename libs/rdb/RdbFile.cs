using System.Globalization;
using System.IO.MemoryMappedFiles;
using System.Text;
using Garnet.Common;

namespace Garnet.Rdb;

/// <summary>An RDB file of Redis, mapped into memory: its version, its checksum, and where its entries stand.</summary>
public sealed unsafe class RdbFile : IDisposable
{
    private const int HeaderBytes = 9, CrcBytes = 8, CrcSince = 5;

    private readonly MemoryMappedFile _map;
    private readonly MemoryMappedViewAccessor _view;
    private readonly byte* _start;
    private readonly long _bytes;
    private readonly int _version;

    /// <summary>Opens the file and looks at its first bytes.</summary>
    /// <exception cref="GarnetException">It cannot be read, or is of no version from 1 to 12.</exception>
    public RdbFile(string path)
    {
        Path = path;
        try
        {
            _bytes = new FileInfo(path).Length;
            if (_bytes < HeaderBytes + 1)
                throw Damage(0, "the file is too short to be one");
            _map = MemoryMappedFile.CreateFromFile(path, FileMode.Open, mapName: null, 0, MemoryMappedFileAccess.Read);
            _view = _map.CreateViewAccessor(0, _bytes, MemoryMappedFileAccess.Read);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            _map?.Dispose();
            throw new GarnetException(ExitKind.Data, $"cannot import {path}", e.Message,
                "Make the file readable, or move it away to start empty");
        }

        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref _start);
        var header = new ReadOnlySpan<byte>(_start, HeaderBytes);
        if (!TryVersion(header, out _version))
            throw Damage(0, "it does not begin as an RDB file does");
        if (_version is < 1 or > RdbPayload.VersionMax)
            throw new GarnetException(ExitKind.Data, $"cannot import {path}",
                $"it has version {_version} of the format, and versions 1 to {RdbPayload.VersionMax} are understood",
                "Let the server that wrote it hand the data over with MIGRATE or DUMP, or move the file away");
    }

    /// <summary>Where the file is.</summary>
    public string Path { get; }

    /// <summary>Its length in bytes.</summary>
    public long Bytes => _bytes;

    /// <summary>The version that the first bytes tell; false if they are of something else.</summary>
    internal static bool TryVersion(ReadOnlySpan<byte> header, out int version)
    {
        version = 0;
        return header.StartsWith("REDIS"u8) && int.TryParse(
            Encoding.ASCII.GetString(header["REDIS"u8.Length..HeaderBytes]), NumberStyles.None, CultureInfo.InvariantCulture, out version);
    }

    /// <summary>The entries, behind the header.</summary>
    public RdbCursor Open() => new(_start + HeaderBytes, _start + _bytes);

    /// <summary>Offset of a place in the file.</summary>
    public long OffsetOf(byte* at) => at - _start;

    /// <summary>What is thrown where the file is damaged.</summary>
    public GarnetException Damage(long offset, string what) =>
        new(ExitKind.Data, $"cannot import {Path}", $"{what} (at byte {offset})",
            "Nothing has been taken from it. Look at it with redis-check-rdb; move it away to start without it");

    /// <summary>Checks the checksum over the whole file; <paramref name="report"/> is told how far it is.</summary>
    public void Check(Action<long> report)
    {
        const int Step = 1 << 20;
        if (_version < CrcSince)
            return;
        ulong crc = 0;
        long end = _bytes - CrcBytes;
        for (long at = 0; at < end; at += Step)
        {
            long part = Math.Min(Step, end - at);
            crc = Crc64.Append(crc, _start + at, part);
            report(part);
        }

        ulong written = *(ulong*)(_start + end);
        if (written != 0 && written != crc) // 0: rdbchecksum no
            throw Damage(end, "the checksum is wrong: the file has changed since it was written, or is not whole");
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _view?.SafeMemoryMappedViewHandle.ReleasePointer();
        _view?.Dispose();
        _map?.Dispose();
    }
}
