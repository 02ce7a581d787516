using System.Text;
using Garnet.Common.Resp;

namespace Garnet.Server.Clients;

/// <summary>The arguments of a command, its name the first of them, for whoever shows or keeps them; valid while it runs.</summary>
internal readonly unsafe ref struct Arguments(Arg* items, int count)
{
    internal int Count => count;

    /// <summary>The bytes of an argument.</summary>
    internal ReadOnlySpan<byte> this[int index] => new(items[index].Bytes, items[index].Length);

    /// <summary>True if the argument is the word, in any case.</summary>
    internal bool Is(int index, ReadOnlySpan<byte> upperWord)
    {
        ReadOnlySpan<byte> text = this[index];
        return text.Length == upperWord.Length && Ascii.EqualsIgnoreCase(text, upperWord);
    }
}
