using System.Runtime.InteropServices;
using Garnet.Common.Bytes;

namespace Garnet.Server.Net;

/// <summary>Finds the last of the replies that stand back to back, by walking over the whole ones before it.</summary>
internal static unsafe class LastReply
{
    /// <summary>Bytes of the last reply between the two ends.</summary>
    internal static long Bytes(byte* from, byte* end)
    {
        byte* start = from;
        for (byte* at = from; at < end; at = Skip(at, end))
            start = at;
        return end - start;
    }

    private static byte* Skip(byte* at, byte* end)
    {
        for (long left = 1; left > 0 && at < end; left--)
        {
            byte type = *at;
            var line = MemoryMarshal.CreateReadOnlySpan(ref *(at + 1), (int)Math.Min(end - at - 1, 1 << 20));
            int length = line.IndexOf((byte)'\r');
            if (length < 0)
                return end;
            _ = NumberText.TryInt64(line[..length], out long count);
            at += length + 3;
            if (type is (byte)'$' or (byte)'=' && count >= 0)
                at += count + 2;
            else if (type is (byte)'*' or (byte)'~' or (byte)'>')
                left += Math.Max(count, 0);
            else if (type == (byte)'%')
                left += 2 * count;
        }

        return at;
    }
}
