using System.Runtime.InteropServices;

namespace Garnet.Server.Net;

/// <summary>Memory for the replies of a round that outgrow a reactor's own; given back at its end.</summary>
internal sealed unsafe class ExtraReplies
{
    private readonly List<nint> _blocks = new(0);

    /// <summary>Bytes taken.</summary>
    internal long Bytes { get; private set; }

    /// <summary>Takes a block, with slack behind it.</summary>
    internal byte* Take(long bytes)
    {
        byte* memory = (byte*)NativeMemory.Alloc((nuint)(bytes + Arena.Slack));
        _blocks.Add((nint)memory);
        Bytes += bytes;
        return memory;
    }

    /// <summary>Gives everything back.</summary>
    internal void Free()
    {
        if (Bytes == 0)
            return;
        foreach (nint memory in _blocks)
            NativeMemory.Free((void*)memory);
        _blocks.Clear();
        Bytes = 0;
    }
}
