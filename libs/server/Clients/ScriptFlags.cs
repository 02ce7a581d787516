namespace Garnet.Server.Clients;

/// <summary>What a script or function says about itself.</summary>
[Flags]
internal enum ScriptFlags : byte
{
    None = 0,
    /// <summary>It has a first line that says what it is: then it must say what it needs.</summary>
    HasShebang = 1,
    NoWrites = 2,
    AllowOom = 4,
    AllowStale = 8,
    NoCluster = 16,
    AllowCrossSlotKeys = 32,
}
