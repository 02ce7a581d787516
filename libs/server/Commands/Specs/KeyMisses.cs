namespace Garnet.Server.Commands;

/// <summary>Which of its keys a command tells of (<c>keymiss</c>) when they are not there.</summary>
internal enum KeyMisses : byte
{
    /// <summary>Those it only reads, as its keys' usage has it.</summary>
    OfReads,
    /// <summary>None.</summary>
    None,
    /// <summary>All of them, though it may write them.</summary>
    All,
    /// <summary>Those it only reads, looked for before the options are read: even if those are refused.</summary>
    AllAtOnce,
    /// <summary>The first.</summary>
    First,
    /// <summary>All, if the option GET stands behind the value.</summary>
    WithGet,
}
