namespace Garnet.Server.Net;

/// <summary>One framed command of a batch.</summary>
internal unsafe struct Frame
{
    /// <summary>First byte of the command.</summary>
    public byte* Start;
    /// <summary>First byte behind the command: what follows is kept if the command stops its connection.</summary>
    public byte* End;
    /// <summary>Hash of the first key's bytes; 0 if the command has none.</summary>
    public ulong KeyHash;
    /// <summary>The first key's index bucket, as the first prefetch pass found it; 0 if the command has no key.</summary>
    public nint Bucket;
    /// <summary>Index of the first argument.</summary>
    public int FirstArg;
    /// <summary>Arguments, name included.</summary>
    public int ArgCount;
    /// <summary>Number in the command table.</summary>
    public int Command;
    /// <summary>Answered already, while a script ran for too long.</summary>
    public bool IsAnswered;
}
