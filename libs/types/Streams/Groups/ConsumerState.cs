using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>What is known of a consumer.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct ConsumerState
{
    public const int Bytes = 24;

    /// <summary>When it last asked for something.</summary>
    public long SeenMs;
    /// <summary>When it last got something, -1 for never.</summary>
    public long ActiveMs;
    public long Pending;
}
