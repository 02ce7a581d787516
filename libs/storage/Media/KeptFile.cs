using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// A medium's file that outlives the process: named and marked with its owner's id, and locked, so that two processes with copies of one owner never write to it
/// both. Its first block is its head (<see cref="KeptHead"/>).
/// media.M2  It has its name once all of it is there and its owner has said so. Before, it has another one (.tmp), under which nobody ever takes it for a file with
/// something in it: whoever makes one removes those that a process has left.
/// </summary>
internal sealed unsafe class KeptFile : IDisposable
{
    private const uint OwnerReadsAndWrites = 0x180;
    private const string Unfinished = ".tmp";

    // The kernel keeps a file locked whose process has ended, until the disk has answered what was read from it.
    private static readonly TimeSpan LockPatience = TimeSpan.FromSeconds(2);
    private readonly string _directory;
    private readonly KeptPart _part;
    private string _path;

    private KeptFile(string directory, KeptPart part, MediumId id, string path, int descriptor, bool isDirect)
    {
        _directory = directory;
        _part = part;
        Id = id;
        _path = path;
        Descriptor = descriptor;
        IsDirect = isDirect;
    }

    public MediumId Id { get; }
    public int Descriptor { get; }
    public bool IsDirect { get; }
    public ulong Note { get; private set; }

    /// <summary>True for one that was made, until it is settled: it goes when it is disposed of.</summary>
    public bool IsNew { get; private set; }

    /// <summary>Bytes it has now.</summary>
    public long FoundBytes => Libc.FactsOf(Descriptor)?.Bytes ?? 0;

    public static string PathOf(string directory, KeptPart part, MediumId id) => Path.Combine(directory, part.FileName(id));

    /// <summary>Opens the one that is there.</summary>
    public static KeptFile Open(string directory, KeptPart part, MediumId id)
    {
        KeptFile file = OpenLocked(directory, part, id);
        try
        {
            file.ReadHead();
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>
    /// True if its head is damaged, and what is left of it shows which of these notes it had; then, with <paramref name="keep"/>, which is given the block as it was, it is
    /// written anew.
    /// </summary>
    public static bool MendHead(string directory, KeptPart part, MediumId id, IEnumerable<ulong> notes, Action<byte[]>? keep)
    {
        using KeptFile file = OpenLocked(directory, part, id);
        using NativeArray<byte> memory = new(KeptHead.Block, KeptHead.Block);
        byte* block = memory.Items;
        if (file.FaultIn(block) is null || file.FoundBytes < KeptHead.Block || KeptHead.NoteBefore(block, id, notes) is not { } note)
            return false;
        if (keep is null)
            return true;
        keep(new ReadOnlySpan<byte>(block, KeptHead.Block).ToArray());
        file.WriteHead(note);
        return true;
    }

    /// <summary>Makes one where there is none.</summary>
    public static KeptFile Make(string directory, KeptPart part, MediumId id, ulong note)
    {
        RemoveLeftovers(directory);
        string path = PathOf(directory, part, id) + Unfinished;
        KeptFile file = OpenAt(directory, part, id, path, Libc.O_CREAT | Libc.O_EXCL);
        try
        {
            // Before it was locked somebody else may have taken it for left over, or may have settled one of the same id.
            file.IsNew = Libc.TryLock(file.Descriptor) && Libc.HasName(file.Descriptor);
            if (!file.IsNew || FileMedium.IsKept(directory, id, part))
                throw InUse(path, part);
            file.WriteHead(note);
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
            throw FileMedium.NoRoom(_directory, bytes, failure, _part);
    }

    public void Settle(long bytes)
    {
        if (IsNew)
            TakeName();
        else if (FoundBytes > bytes)
            _ = Libc.ftruncate(Descriptor, bytes); // it is larger than need be, else
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (IsNew)
            File.Delete(_path);
        _ = Libc.close(Descriptor);
    }

    private static KeptFile OpenLocked(string directory, KeptPart part, MediumId id)
    {
        KeptFile file = OpenAt(directory, part, id, PathOf(directory, part, id), 0);
        if (SpinWait.SpinUntil(() => Libc.TryLock(file.Descriptor), LockPatience))
            return file;
        file.Dispose();
        throw InUse(file._path, part);
    }

    private static GarnetException InUse(string path, KeptPart part) => new(ExitKind.Data, $"the tier's file is in use: {path}",
        "another server has it, by a copy of this data directory; or the disk still owes reads to a server that has ended",
        $"If the disk hangs, start again once it answers; give a copy its own {part.PathSetting}");

    // Those that nobody has locked: their process has ended.
    private static void RemoveLeftovers(string directory)
    {
        EnumerationOptions readable = new() { IgnoreInaccessible = true };
        foreach (string path in Directory.GetFiles(directory, "tier-*" + Unfinished, readable))
        {
            fixed (byte* name = Encoding.UTF8.GetBytes(path + '\0'))
            {
                int file = Libc.open(name, Libc.O_RDWR | Libc.O_CLOEXEC | Libc.O_NOFOLLOW, 0);
                if (file < 0)
                    continue;
                if (Libc.TryLock(file))
                    _ = Libc.unlink(name);
                _ = Libc.close(file);
            }
        }
    }

    private static string Elsewhere(KeptPart part) =>
        $"Name a directory that the server may write to, with room in it ({part.PathSetting})";

    private static KeptFile OpenAt(string directory, KeptPart part, MediumId id, string path, int how)
    {
        fixed (byte* name = Encoding.UTF8.GetBytes(path + '\0'))
        {
            foreach (int direct in new[] { Libc.O_DIRECT, 0 })
            {
                int file = Libc.open(name, Libc.O_RDWR | Libc.O_CLOEXEC | Libc.O_NOFOLLOW | how | direct, OwnerReadsAndWrites);
                if (file >= 0)
                    return new KeptFile(directory, part, id, path, file, direct != 0);
                int error = Libc.Errno;
                if (error == Libc.EEXIST)
                    throw InUse(path, part); // one that nobody uses was removed
                if (error != Libc.EINVAL)
                    throw FileMedium.Failed($"cannot open the tier's file {path}", error, Elsewhere(part));
                if (how != 0)
                    _ = Libc.unlink(name); // a file system without direct reads and writes has made it all the same
            }
        }
        throw FileMedium.Failed($"cannot open the tier's file {path}", Libc.EINVAL, Elsewhere(part));
    }

    private void TakeName()
    {
        string path = PathOf(_directory, _part, Id);
        fixed (byte* from = Encoding.UTF8.GetBytes(_path + '\0'), to = Encoding.UTF8.GetBytes(path + '\0'))
        {
            int error = Libc.rename(from, to) == 0 ? FilePlace.SyncDirectory(_directory) : Libc.Errno;
            if (error != 0)
                throw FileMedium.Failed($"cannot make the tier's file {path}", error, Elsewhere(_part));
        }
        (_path, IsNew) = (path, false);
    }

    private void WriteHead(ulong note)
    {
        using NativeArray<byte> memory = new(KeptHead.Block, KeptHead.Block);
        KeptHead.Write(memory.Items, Id, note);
        Note = note;
        nint put = Libc.pwrite(Descriptor, memory.Items, KeptHead.Block, 0);
        int error = put < 0 ? Libc.Errno : put < KeptHead.Block ? Libc.EIO : Libc.fsync(Descriptor) == 0 ? 0 : Libc.Errno;
        if (error != 0)
            throw FileMedium.Failed($"cannot write the tier's file {_path}", error, Elsewhere(_part));
    }

    private void ReadHead()
    {
        using NativeArray<byte> memory = new(KeptHead.Block, KeptHead.Block);
        if (FaultIn(memory.Items) is { } fault)
        {
            throw new GarnetException(ExitKind.Data, $"the tier's file cannot be used: {_path}", fault,
                "Put it back from where it was; nothing was changed. If there is no copy of it, 'garnet-server repair' writes its head "
                    + "anew where what is left shows what it was; else move the file away, and it says what would be lost without it");
        }
        Note = KeptHead.NoteIn(memory.Items);
    }

    // Reads the first block.
    private string? FaultIn(byte* block)
    {
        nint bytes = Libc.pread(Descriptor, block, KeptHead.Block, 0);
        return bytes < 0 ? new System.ComponentModel.Win32Exception(Libc.Errno).Message
            : bytes < KeptHead.Block ? "it is cut, or another file" : KeptHead.FaultOf(block, Id);
    }
}
