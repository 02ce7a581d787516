using System.Diagnostics;
using Garnet.Bulk;

namespace Garnet.BulkCopy;

/// <summary>The process that reads or writes the other one's memory, and measures it beside copies within its own: three turns of each.</summary>
internal static class Copy
{
    private const double SecondsOfTurn = 0.7;

    public static async Task<int> RunAsync(string provider, byte[] address, RemoteRegion region, bool writes)
    {
        await using var endpoint = BulkEndpoint.Open(provider);
        using BulkPeer peer = endpoint.Connect(address, TimeSpan.FromSeconds(5));
        byte[] own = GC.AllocateUninitializedArray<byte>((int)region.Length, pinned: true), other = GC.AllocateUninitializedArray<byte>(own.Length, pinned: true);
        Pattern.Fill(other);
        Pattern.Fill(own);

        for (int turn = 0; turn < 3; turn++)
        {
            Measured within = await MeasureAsync(own.Length, () => { (writes ? own : other).CopyTo(writes ? other : own, 0); return ValueTask.FromResult(0L); });
            if (!writes)
                own.AsSpan().Clear();
            Measured between = await MeasureAsync(own.Length, () => writes ? endpoint.WriteAsync(peer, own, region.All) : endpoint.ReadAsync(peer, region.All, own));
            Console.WriteLine($"{provider} {(writes ? "write" : "read")} of {own.Length >> 20} MiB: {between.GigabytesPerSecond:F2} GB/s, {between.CpuSecondsPerGigabyte:F3} CPU s/GB; "
                + $"within: {within.GigabytesPerSecond:F2} GB/s, {within.CpuSecondsPerGigabyte:F3} CPU s/GB; ratio {between.GigabytesPerSecond / within.GigabytesPerSecond:F2}");
        }

        if (writes)
            await endpoint.ReadAsync(peer, region.All, other);
        bool isRight = Pattern.Holds(writes ? other : own);
        Console.WriteLine(isRight ? "All bytes are as they should be." : "Bytes differ.");
        return isRight ? 0 : 1;
    }

    private static async Task<Measured> MeasureAsync(int bytes, Func<ValueTask<long>> copy)
    {
        await copy();
        TimeSpan cpu = Process.GetCurrentProcess().TotalProcessorTime;
        long began = Stopwatch.GetTimestamp();
        double copied = 0;
        do
        {
            await copy();
            copied += bytes;
        }
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < SecondsOfTurn);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        double used = (Process.GetCurrentProcess().TotalProcessorTime - cpu).TotalSeconds;
        return new Measured(copied / 1e9 / seconds, used / (copied / 1e9));
    }

    private readonly record struct Measured(double GigabytesPerSecond, double CpuSecondsPerGigabyte);
}
