namespace Garnet.Server.Commands;

/// <summary>Which of its keys a command tells of (<c>keymiss</c>) when they are not there.</summary>
internal enum KeyMisses : byte
{
    None,
    /// <summary>Those it reads: all of them.</summary>
    All,
    /// <summary>All of them, looked for before the options are read: even if those are refused.</summary>
    AllAtOnce,
    /// <summary>The first.</summary>
    First,
    /// <summary>All, if the option GET stands behind the value.</summary>
    WithGet,
}
