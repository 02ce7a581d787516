using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>What one partition holds of one namespace.</summary>
[StructLayout(LayoutKind.Sequential, Size = 16)]
internal struct NamespaceCount
{
    public int Keys, Expiring, Chunks;
    /// <summary>Non-zero once the namespace was given up: nothing new may enter it.</summary>
    public int Retired;

    private const uint AtFirst = 16;

    /// <summary>As many words of that sort have come, or gone.</summary>
    public void Add(ulong word, int by)
    {
        if ((word & IndexWord.InternalBit) != 0)
        {
            Chunks += by;
            return;
        }

        Keys += by;
        if ((word & IndexWord.TtlBit) != 0)
            Expiring += by;
    }

    /// <summary>How many there must be room for, so that there is one of the namespace: at least as many as there are, doubled as often as it takes.</summary>
    public static uint RoomFor(uint ns, uint atLeast)
    {
        uint room = Math.Max(AtFirst, atLeast);
        while (room <= ns)
            room *= 2;
        return room;
    }
}
