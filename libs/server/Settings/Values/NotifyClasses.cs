using System.Text;
using Garnet.Common;

namespace Garnet.Server;

/// <summary>Which keyspace events are published. Bit positions follow <see cref="Letters"/>.</summary>
public sealed record NotifyClasses(int Bits) : ISettingValue
{
    /// <summary>One letter per class; the first ten are what A stands for.</summary>
    private const string Letters = "g$lshzxetdnKEm";
    private const int AllCount = 10, AllBits = (1 << AllCount) - 1;

    public const int Generic = 1, String = 1 << 1, List = 1 << 2, Set = 1 << 3, Hash = 1 << 4, SortedSet = 1 << 5, Expired = 1 << 6;
    public const int Evicted = 1 << 7, Stream = 1 << 8, Module = 1 << 9, New = 1 << 10, Keyspace = 1 << 11, Keyevent = 1 << 12;
    public const int Miss = 1 << 13;

    /// <summary>The classes that commands bring about.</summary>
    public const int Commands = (AllBits & ~(Expired | Evicted)) | New | Miss;

    public static NotifyClasses None { get; } = new(0);

    public string Text
    {
        get
        {
            var text = new StringBuilder();
            bool all = (Bits & AllBits) == AllBits;
            if (all)
                text.Append('A');
            for (int bit = all ? AllCount : 0; bit < Letters.Length; bit++)
                if ((Bits & (1 << bit)) != 0)
                    text.Append(Letters[bit]);
            return text.ToString();
        }
    }

    public bool LinesAdd => false;

    /// <summary>True if events of one of these classes go to at least one of the two channels.</summary>
    public bool Publishes(int eventClasses) => (Bits & eventClasses) != 0 && (Bits & (Keyspace | Keyevent)) != 0;

    public ISettingValue? Parse(string text, out string error)
    {
        error = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
        int bits = 0;
        foreach (char letter in text)
        {
            int bit = Letters.IndexOf(letter, StringComparison.Ordinal);
            if (letter != 'A' && bit < 0)
                return null;
            bits |= letter == 'A' ? AllBits : 1 << bit;
        }

        return new NotifyClasses(bits);
    }
}
