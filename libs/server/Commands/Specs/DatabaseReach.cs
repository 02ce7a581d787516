namespace Garnet.Server.Commands;

/// <summary>Which databases a command reaches, for rights; the one of a key elsewhere says its <see cref="KeySpec"/>.</summary>
internal enum DatabaseReach : byte
{
    /// <summary>The connection's, if it has keys, reads or writes; else none.</summary>
    Own,
    /// <summary>Those that all its arguments name.</summary>
    Named,
    /// <summary>All there are.</summary>
    All,
}
