namespace Garnet.Server.Rights;

/// <summary>What brought the command that was refused.</summary>
internal enum DenialPlace : byte
{
    TopLevel,
    Multi,
    Lua,
}
