namespace Garnet.Server.Commands;

/// <summary>What of a script decides whether it may begin, and about its calls.</summary>
[Flags]
internal enum ScriptState : byte
{
    None = 0,
    /// <summary>It must not write: it was called so, or says so.</summary>
    ReadOnly = 1,
    /// <summary>It has written: it is not stopped half way for what may pass.</summary>
    HasWritten = 2,
    /// <summary>Changes of whole databases may stand anywhere in it.</summary>
    IsOrdered = 4,
    /// <summary>Memory was over its limit when it began, and it has not said that it copes.</summary>
    LacksMemory = 8,
}
