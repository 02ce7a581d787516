using Garnet.Common;

namespace Garnet.Server;

/// <summary>How long and how large scripts may become.</summary>
public sealed partial class ScriptSettings
{
    [Setting("busy-reply-threshold",
        "How long a script may run before other clients are told that the server is busy, and may stop it; 0 for ever.",
        Aliases = "lua-time-limit", Unit = SettingUnit.Milliseconds, Min = 0, Live = true)]
    public long BusyMilliseconds { get; set; } = 5000;

    [Setting("script-memory-limit", "Memory that the scripts of one reactor may hold; one that wants more ends in an error.",
        Unit = SettingUnit.Bytes, Min = 1 << 20, Live = true)]
    public long MemoryBytesMax { get; set; } = 128 << 20;
}
