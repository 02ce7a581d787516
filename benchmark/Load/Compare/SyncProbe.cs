using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Linux;

namespace Garnet.Load.Compare;

/// <summary>How long the disk itself takes to make a small write durable, past the page cache, in room written before.</summary>
internal static unsafe class SyncProbe
{
    public const int Bytes = 4096;
    private const int Blocks = 64, Times = 100;

    /// <summary>Microseconds of each of a hundred writes.</summary>
    public static List<double> Run(string directory)
    {
        string path = Path.Combine(directory, "probe");
        byte* block = (byte*)NativeMemory.AlignedAlloc(Bytes, Bytes);
        new Span<byte>(block, Bytes).Fill(1);
        int descriptor;
        fixed (byte* name = Encoding.UTF8.GetBytes(path + '\0'))
            descriptor = Libc.open(name, Libc.O_RDWR | Libc.O_CREAT | Libc.O_DIRECT | Libc.O_CLOEXEC, 0x180);
        try
        {
            if (descriptor < 0) throw new Win32Exception(Libc.Errno);
            for (int i = 0; i < Blocks; i++) Write(descriptor, block, i);
            return [.. Enumerable.Range(0, Times).Select(i => TimedUs(descriptor, block, i % Blocks))];
        }
        finally
        {
            if (descriptor >= 0) _ = Libc.close(descriptor);
            NativeMemory.AlignedFree(block);
            File.Delete(path);
        }
    }

    private static double TimedUs(int descriptor, byte* block, int at)
    {
        long start = Stopwatch.GetTimestamp();
        Write(descriptor, block, at);
        return Stopwatch.GetElapsedTime(start).TotalMicroseconds;
    }

    private static void Write(int descriptor, byte* block, int at)
    {
        if (Libc.pwrite(descriptor, block, Bytes, (long)at * Bytes) != Bytes || Libc.fdatasync(descriptor) != 0) throw new Win32Exception(Libc.Errno);
    }
}
