using System.Runtime.InteropServices;

namespace Garnet.RingLoop;

/// <summary>Counts the requests that have come by their length, since all are alike, and has the replies to as many.</summary>
internal static unsafe class Pings
{
    public const int DescriptorsMax = 1 << 16, RepliesMax = 4096;
    private const int RequestBytes = 14, ReplyBytes = 7; // *1 $4 PING, and +PONG
    private static readonly int[] s_left = new int[DescriptorsMax];

    public static byte* Replies { get; } = Make();

    /// <summary>So many bytes have come; the bytes that answer what is whole by now.</summary>
    public static int Take(int descriptor, int bytes)
    {
        int have = s_left[descriptor] + bytes;
        s_left[descriptor] = have % RequestBytes;
        return Math.Min(have / RequestBytes, RepliesMax) * ReplyBytes;
    }

    public static void Forget(int descriptor) => s_left[descriptor] = 0;

    private static byte* Make()
    {
        byte* made = (byte*)NativeMemory.Alloc(RepliesMax * ReplyBytes);
        for (int i = 0; i < RepliesMax; i++) "+PONG\r\n"u8.CopyTo(new Span<byte>(made + (i * ReplyBytes), ReplyBytes));
        return made;
    }
}
