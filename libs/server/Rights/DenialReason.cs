namespace Garnet.Server.Rights;

/// <summary>Why somebody was refused; what else there is to a reason is its row in <see cref="DenialReasons"/>.</summary>
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
