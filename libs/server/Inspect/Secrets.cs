using System.Text;
using Garnet.Common;
using Garnet.Server.Clients;
using Garnet.Server.Rights;

namespace Garnet.Server.Inspect;

/// <summary>Which arguments hold secrets: never shown by MONITOR or SLOWLOG.</summary>
internal sealed class Secrets(SettingTable settings)
{
    private const int WordsMax = 64; // of one command that are looked at; each is for every one behind it

    private byte[][]? _names; // of settings that hold one; looked for when the first command is shown, from whatever thread

    private byte[][] Names =>
        _names ??= [.. settings.All.Where(static one => one.Declared.Secret).Select(static one => Encoding.ASCII.GetBytes(one.Name))];

    internal bool Hides(Arguments arguments, int index)
    {
        int name = NameOf(arguments);
        if (index <= name)
            return false;
        if (arguments.Is(name, "AUTH"u8))
            return true;
        if (arguments.Is(name, "HELLO"u8))
            return IsBehind(arguments, name + 1, index, static (all, at) => all.Is(at, "AUTH"u8)); // the version may have been forgotten
        if (arguments.Is(name, "ACL"u8) && arguments.Is(name + 1, "SETUSER"u8))
            return index >= name + 2; // the name too, as in Redis: it may be a password without one
        if (arguments.Is(name, "ACL"u8) && arguments.Is(name + 1, "DELUSER"u8))
            return index >= name + 2 && RuleText.MayHoldPassword(arguments[index]);
        if (arguments.Is(name, "BULK.REG"u8))
            return index >= name + 4; // the key: whoever has it may reach the client's memory
        if (arguments.Is(name, "MIGRATE"u8))
            return IsBehind(arguments, name + 1, index, static (all, at) => all.Is(at, "AUTH"u8) || all.Is(at, "AUTH2"u8)); // others too
        bool sets = arguments.Is(name, "CONFIG"u8) && arguments.Is(name + 1, "SET"u8);
        return sets && index >= name + 2 && IsOfSettings(arguments, name + 2, index);
    }

    // All behind it: whoever left out quotation marks has sent a secret in several arguments. Keys of MIGRATE are not shown then.
    private static bool IsBehind(Arguments arguments, int first, int index, Func<Arguments, int, bool> begins)
    {
        for (int i = first; i < Math.Min(index, first + WordsMax); i++)
        {
            if (begins(arguments, i))
                return true;
        }

        return index >= first + WordsMax;
    }

    // Shown are names of settings, and values of those that are no secrets: what stands in the place of a name may be a part of one.
    private bool IsOfSettings(Arguments arguments, int first, int index)
    {
        if (IsBehind(arguments, first, index, IsSecret))
            return true;
        int at = index - ((index - first) % 2);
        return !settings.TryFind(Encoding.Latin1.GetString(arguments[at]), out _);
    }

    private bool IsSecret(Arguments arguments, int index)
    {
        foreach (byte[] one in Names)
        {
            if (arguments.Is(index, one))
                return true;
        }

        return false;
    }

    // Where the command's name stands, perhaps behind one that asks about it; they may stand in each other.
    private static int NameOf(Arguments arguments)
    {
        int name = 0, asking;
        while ((asking = WordsOfAsking(arguments, name)) > 0)
            name += asking;
        return name;
    }

    private static int WordsOfAsking(Arguments arguments, int name)
    {
        int left = arguments.Count - name;
        if (left > 3 && arguments.Is(name, "ACL"u8) && arguments.Is(name + 1, "DRYRUN"u8))
            return 3;
        bool asks = left > 2 && arguments.Is(name, "COMMAND"u8)
            && (arguments.Is(name + 1, "GETKEYS"u8) || arguments.Is(name + 1, "GETKEYSANDFLAGS"u8));
        return asks ? 2 : 0;
    }
}
