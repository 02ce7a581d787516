namespace Garnet.Server.Rights;

/// <summary>Why somebody was refused.</summary>
internal enum DenialReason : byte
{
    None,
    Command,
    Key,
    /// <summary>A wrong name or password.</summary>
    Auth,
    Channel,
    Database,
}
