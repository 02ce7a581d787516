using Garnet.Server.Commands;

namespace Garnet.Server.Inspect;

/// <summary>Which arguments hold secrets: never shown by MONITOR or SLOWLOG.</summary>
internal static class Secrets
{
    internal static bool Hides(ref Call call, int index)
    {
        if (index == 0)
            return false;
        if (call.Is(0, "AUTH"u8))
            return true;
        if (call.Is(0, "HELLO"u8))
            return index >= 2 && (call.Is(index - 1, "AUTH"u8) || (index >= 3 && call.Is(index - 2, "AUTH"u8)));
        return index >= 3 && call.Is(0, "CONFIG"u8) && call.Is(1, "SET"u8) && (call.Is(index - 1, "requirepass"u8) || call.Is(index - 1, "masterauth"u8));
    }
}
