using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Strings;

/// <summary>Expiry arguments turned into absolute milliseconds, refusing what overflows.</summary>
internal static class ExpiryTime
{
    /// <summary>False if the time is not positive or does not fit 63 bits of milliseconds.</summary>
    internal static bool TryAbsolute(long time, bool inSeconds, bool absolute, long nowMs, out long unixMs)
    {
        unixMs = 0;
        if (time <= 0 || (inSeconds && time > long.MaxValue / 1000))
            return false;
        unixMs = inSeconds ? time * 1000 : time;
        if (absolute)
            return true;
        if (unixMs > long.MaxValue - nowMs)
            return false;
        unixMs += nowMs;
        return true;
    }

    /// <summary>The error Redis gives, naming the command.</summary>
    internal static Reply Refuse(ref Call call) =>
        call.FailText($"ERR invalid expire time in '{call.Server.Commands.Specs[call.Client.LastCommand].Name.ToLowerInvariant()}' " +
            "command");
}
