using System.Numerics;
using System.Runtime.CompilerServices;
using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// A medium's file that outlives the process: named and marked with its owner's id, and locked, so that two processes with copies of one owner never write to it
/// both. Its first block is its head (website/docs/format/tier.md): magic, version, id, a note of the owner's, and a checksum of these.
/// </summary>
internal sealed unsafe class KeptFile : IDisposable
{
    private const int Block = 4096, Magic = 0x46544E47, FormatVersion = 1, IdAt = 16, NoteAt = 32, CrcAt = 60; // "GNTF"
    private const uint OwnerReadsAndWrites = 0x180;
    private const string Elsewhere = "name a directory that the server may write to, with room in it (tier-path)";
    private readonly string _directory, _path;
    private readonly bool _isNew;
    private bool _isSettled;

    private KeptFile(string directory, string path, int descriptor, bool isDirect, bool isNew)
    {
        _directory = directory;
        _path = path;
        Descriptor = descriptor;
        IsDirect = isDirect;
        _isNew = isNew;
    }

    public int Descriptor { get; }
    public bool IsDirect { get; }
    public ulong Note { get; private set; }

    /// <summary>Bytes it has now.</summary>
    public long FoundBytes => new FileInfo(_path).Length;

    public static string PathOf(string directory, UInt128 id) => Path.Combine(directory, $"tier-{id:x32}");

    public static KeptFile Open(string directory, UInt128 id, ulong note)
    {
        string path = PathOf(directory, id);
        KeptFile file = OpenOrMake(directory, path);
        try
        {
            if (!Libc.TryLock(file.Descriptor))
                throw new GarnetException(ExitKind.Data, $"the tier's file is in use: {path}",
                    "another process has locked it, which has a copy of this data directory", "Give each its own tier-path");
            if (file._isNew)
                file.WriteHead(id, note);
            else
                file.ReadHead(id);
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Sets the room aside that it does not have yet.</summary>
    public void Reserve(long bytes)
    {
        int failure = FileMedium.SetAside(Descriptor, bytes);
        if (failure != 0)
            throw FileMedium.NoRoom(_directory, bytes, failure);
    }

    public void Settle(long bytes)
    {
        _isSettled = true;
        if (FoundBytes > bytes)
            _ = Libc.ftruncate(Descriptor, bytes); // it is larger than need be, else
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_isNew && !_isSettled)
            File.Delete(_path);
        _ = Libc.close(Descriptor);
    }

    private static KeptFile OpenOrMake(string directory, string path)
    {
        fixed (byte* name = Encoding.UTF8.GetBytes(path + '\0'))
        {
            int flags = Libc.O_RDWR | Libc.O_CLOEXEC | Libc.O_NOFOLLOW;
            foreach (int direct in new[] { Libc.O_DIRECT, 0 })
            {
                int file = Libc.open(name, flags | direct, 0), error = Libc.Errno;
                if (file >= 0)
                    return new KeptFile(directory, path, file, direct != 0, isNew: false);
                bool isMissing = file < 0 && error == Libc.ENOENT;
                if (isMissing)
                {
                    file = Libc.open(name, flags | direct | Libc.O_CREAT | Libc.O_EXCL, OwnerReadsAndWrites);
                    error = Libc.Errno;
                }
                if (file >= 0)
                    return new KeptFile(directory, path, file, direct != 0, isNew: true);
                if (error != Libc.EINVAL)
                    throw FileMedium.Failed($"cannot open the tier's file {path}", error, Elsewhere);
                if (isMissing)
                    _ = Libc.unlink(name); // a file system without direct reads and writes has made it all the same
            }
        }
        throw FileMedium.Failed($"cannot open the tier's file {path}", Libc.EINVAL, Elsewhere);
    }

    private void WriteHead(UInt128 id, ulong note)
    {
        using NativeArray<byte> memory = new(Block, Block);
        byte* head = memory.Items;
        new Span<byte>(head, Block).Clear();
        *(int*)head = Magic;
        *(int*)(head + 4) = FormatVersion;
        Unsafe.WriteUnaligned(head + IdAt, id);
        *(ulong*)(head + NoteAt) = note;
        *(uint*)(head + CrcAt) = Crc(head);
        Note = note;
        bool isWritten = Libc.pwrite(Descriptor, head, Block, 0) == Block && Libc.fsync(Descriptor) == 0;
        int error = isWritten ? 0 : Libc.Errno;
        if (isWritten && SyncDirectory() is var synced && synced != 0)
            error = synced;
        if (error != 0)
            throw FileMedium.Failed($"cannot write the tier's file {_path}", error, Elsewhere);
    }

    private void ReadHead(UInt128 id)
    {
        using NativeArray<byte> memory = new(Block, Block);
        byte* head = memory.Items;
        nint bytes = Libc.pread(Descriptor, head, Block, 0);
        string? fault = bytes < 0 ? new System.ComponentModel.Win32Exception(Libc.Errno).Message
            : bytes < Block || *(int*)head != Magic ? "it is cut, or another file"
            : *(uint*)(head + CrcAt) != Crc(head) ? "the checksum of its head is wrong"
            : *(int*)(head + 4) != FormatVersion ? $"version {*(int*)(head + 4)} is of a newer version of the server"
            : Unsafe.ReadUnaligned<UInt128>(head + IdAt) != id ? "it has the id of another server's data"
            : null;
        Note = *(ulong*)(head + NoteAt);
        if (fault is not null)
            throw new GarnetException(ExitKind.Data, $"the tier's file cannot be used: {_path}", fault,
                "Put it back from where it was; nothing was changed");
    }

    private int SyncDirectory()
    {
        fixed (byte* name = Encoding.UTF8.GetBytes(_directory + '\0'))
        {
            int directory = Libc.open(name, Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_CLOEXEC, 0);
            if (directory < 0)
                return Libc.Errno;
            int error = Libc.fsync(directory) == 0 ? 0 : Libc.Errno;
            _ = Libc.close(directory);
            return error;
        }
    }

    private static uint Crc(byte* head)
    {
        uint crc = ~0u;
        for (int at = 0; at < CrcAt; at += sizeof(uint)) crc = BitOperations.Crc32C(crc, *(uint*)(head + at));
        return ~crc;
    }
}
