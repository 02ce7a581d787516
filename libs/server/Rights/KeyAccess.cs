namespace Garnet.Server.Rights;

/// <summary>What a command does with a key, and what a pattern allows.</summary>
[Flags]
internal enum KeyAccess : byte
{
    /// <summary>Looks only at whether it is there, or at its size: any pattern allows that.</summary>
    None = 0,
    Read = 1,
    Write = 2,
    Both = Read | Write,
}
