using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>Which arguments hold secrets: never shown by MONITOR or SLOWLOG.</summary>
internal static class Secrets
{
    internal static bool Hides(Arguments arguments, int index)
    {
        if (index == 0)
            return false;
        if (arguments.Is(0, "AUTH"u8))
            return true;
        if (arguments.Is(0, "HELLO"u8))
            return index >= 2 && (arguments.Is(index - 1, "AUTH"u8) || (index >= 3 && arguments.Is(index - 2, "AUTH"u8)));
        if (arguments.Is(0, "ACL"u8))
            return index >= 3 && arguments.Is(1, "SETUSER"u8);
        if (arguments.Is(0, "MIGRATE"u8))
            return index >= 6 && IsOfMigrate(arguments, index);
        return index >= 3 && arguments.Is(0, "CONFIG"u8) && arguments.Is(1, "SET"u8) && (arguments.Is(index - 1, "requirepass"u8) || arguments.Is(index - 1, "masterauth"u8));
    }

    private static bool IsOfMigrate(Arguments arguments, int index) =>
        arguments.Is(index - 1, "AUTH"u8) || arguments.Is(index - 1, "AUTH2"u8) || arguments.Is(index - 2, "AUTH2"u8);
}
