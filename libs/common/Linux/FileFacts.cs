namespace Garnet.Common.Linux;

/// <summary>What a file system says of a file: whose it is, its type and rights, which it is, and when anything of it was changed last.</summary>
public readonly record struct FileFacts(uint Owner, ushort Mode, ulong Inode, long ChangedSeconds, uint ChangedNs)
{
    private const int TypeBits = 0xF000, RegularFile = 0x8000, Pipe = 0x1000, Socket = 0xC000,
        RightsBits = 0xFFF, OwnerReadsAndWrites = 0x180;

    /// <summary>True for a file, and neither a directory nor a link nor anything else.</summary>
    public bool IsFile => (Mode & TypeBits) == RegularFile;

    /// <summary>True for the name of a Unix socket.</summary>
    public bool IsSocket => (Mode & TypeBits) == Socket;

    /// <summary>True for a pipe with a name (FIFO): who opens it waits for the other end.</summary>
    public bool IsPipe => (Mode & TypeBits) == Pipe;

    /// <summary>True if the rights are wider than 0600.</summary>
    public bool IsOthersToo => (Mode & RightsBits & ~OwnerReadsAndWrites) != 0;
}
