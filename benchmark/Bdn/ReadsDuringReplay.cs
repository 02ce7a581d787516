using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Linux;
using Garnet.Server.Test.InProcess;

namespace Garnet.Bdn;

/// <summary>
/// What a live replay adds to the latency of reads on a replica. One thread, alone on core 1, asks for 100 GETs or one MGET of 100 as
/// often as half of what it could; all else (the primary, who writes to it, shipping, replay) shares the core that the process was started
/// on. Latency counts from when a read was due, not from when it began.
///   taskset -c 0 garnet-bdn reads-during-replay
/// </summary>
internal sealed unsafe class ReadsDuringReplay : IDisposable
{
    private const int Keys = 100_000, Batch = 100, Blocks = 1000, Draws = 1 << 20, ReadCore = 1;
    private const double CellSeconds = 3, WarmSeconds = 3, ZipfExponent = 0.99;
    private static readonly int[] s_rates = [0, 100_000, 500_000, 1_000_000];

    private readonly ReadServers _servers = new(Keys, hasReplica: true);
    private readonly InProcessClient _reads, _writes;
    private readonly long[] _late = new long[1 << 20];
    private readonly List<nint> _blocks = [];
    private volatile bool _stop;
    private long _rate, _written;

    private ReadsDuringReplay()
    {
        _reads = _servers.ToReplica();
        _writes = _servers.ToPrimary();
    }

    /// <summary>Measures and prints a table.</summary>
    public static int Run()
    {
        ulong* mask = stackalloc ulong[16];
        new Span<ulong>(mask, 16).Clear();
        mask[0] = 1UL << ReadCore;
        using var all = new ReadsDuringReplay();
        if (Libc.sched_setaffinity(0, 16 * sizeof(ulong), mask) < 0) Console.WriteLine($"cannot pin the reading thread to core {ReadCore}");
        Console.WriteLine("| reads | writes | asked per s | written per s | us a read, p50 | p99 | p99.9 | p99 to none | waits per read | behind at the end, ms |");
        Console.WriteLine("|---|---|---|---|---|---|---|---|---|---|");
        foreach (bool zipf in (bool[])[false, true])
        {
            foreach (bool together in (bool[])[false, true]) all.Measure(zipf, together);
        }
        return 0;
    }

    public void Dispose()
    {
        _writes.Dispose();
        _reads.Dispose();
        _servers.Dispose();
        foreach (nint block in _blocks) NativeMemory.AlignedFree((void*)block);
    }

    private void Measure(bool zipf, bool together)
    {
        int[] keys = zipf ? Zipf() : Uniform();
        byte* sets = Requests(keys, (text, drawn) => text.AppendJoin("", drawn.Select(ReadServers.Set)), out int setBytes);
        byte* gets = Requests(keys, together ? MGet : Gets, out int getBytes);
        double alone = 0, least = double.MaxValue;
        ReadFor(gets, getBytes, WarmSeconds, intervalTicks: 0, out _);
        for (int i = 0; i < 5; i++)
        {
            int count = ReadFor(gets, getBytes, 0.2, intervalTicks: 0, out _);
            least = Math.Min(least, 0.2 / count);
        }
        long interval = (long)(2 * least * Stopwatch.Frequency);
        foreach (int rate in s_rates)
        {
            (_rate, _stop, _written) = (rate, false, 0);
            var writer = new Thread(() => Write(sets, setBytes)) { IsBackground = true };
            if (rate > 0) StartOn(0, writer);
            if (rate > 0) ReadFor(gets, getBytes, WarmSeconds, interval, out _);
            long waits = _servers.Waits, written = Volatile.Read(ref _written);
            int count = ReadFor(gets, getBytes, CellSeconds, interval, out double seconds);
            waits = _servers.Waits - waits;
            written = Volatile.Read(ref _written) - written;
            _stop = true;
            if (rate > 0) writer.Join();
            long began = Stopwatch.GetTimestamp();
            _servers.CatchUp();
            double behind = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
            Array.Sort(_late, 0, count);
            double p99 = At(count, 0.99);
            if (rate == 0) alone = p99;
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"| {(together ? "MGET of 100" : "100 GETs")} | {(zipf ? "zipf 0.99" : "uniform")} | {rate} | {written / seconds:F0} | {At(count, 0.5):F1} | {p99:F1} | {At(count, 0.999):F1} | {p99 / alone:F2} | {(double)waits / count:F4} | {behind:F0} |"));
        }
    }

    private double At(int count, double part) => _late[(int)(count * part)] * 1e6 / Stopwatch.Frequency;

    // Reads every so many ticks, 0: without a pause; returns how often.
    private int ReadFor(byte* requests, int bytes, double seconds, long intervalTicks, out double took)
    {
        long began = Stopwatch.GetTimestamp(), due = began, end = began + (long)(seconds * Stopwatch.Frequency), now = began;
        int count = 0;
        while (due < end && now < end && count < _late.Length)
        {
            while ((now = Stopwatch.GetTimestamp()) < due)
            {
            }
            if (_reads.Exchange(requests + ((long)(count % Blocks) * bytes), bytes) < Batch * ReadServers.ValueBytes) throw new InvalidOperationException("not what was set");
            now = Stopwatch.GetTimestamp();
            _late[count++] = now - due;
            due = intervalTicks > 0 ? due + intervalTicks : now;
        }
        took = (now - began) / (double)Stopwatch.Frequency;
        return count;
    }

    private void Write(byte* requests, int bytes)
    {
        long began = Stopwatch.GetTimestamp();
        for (int i = 0; !_stop; )
        {
            if (_written >= Stopwatch.GetElapsedTime(began).TotalSeconds * _rate)
            {
                Thread.Yield();
                continue;
            }
            _writes.Exchange(requests + ((long)i * bytes), bytes);
            Volatile.Write(ref _written, _written + Batch);
            i = (i + 1) % Blocks;
        }
    }

    // A thread runs where the one that starts it does.
    private static void StartOn(int core, Thread thread)
    {
        ulong* mask = stackalloc ulong[16];
        new Span<ulong>(mask, 16).Clear();
        mask[0] = 1UL << core;
        _ = Libc.sched_setaffinity(0, 16 * sizeof(ulong), mask);
        thread.Start();
        mask[0] = 1UL << ReadCore;
        _ = Libc.sched_setaffinity(0, 16 * sizeof(ulong), mask);
    }

    private byte* Requests(int[] keys, Action<StringBuilder, IEnumerable<int>> write, out int bytesEach)
    {
        var random = new Random(1);
        var text = new StringBuilder();
        for (int i = 0; i < Blocks; i++) write(text, Enumerable.Range(0, Batch).Select(_ => keys[random.Next(Draws)]));
        byte* bytes = (byte*)NativeMemory.AlignedAlloc((nuint)text.Length, 64);
        _blocks.Add((nint)bytes);
        Encoding.ASCII.GetBytes(text.ToString(), new Span<byte>(bytes, text.Length));
        bytesEach = text.Length / Blocks;
        return bytes;
    }

    private static void Gets(StringBuilder text, IEnumerable<int> drawn)
    {
        foreach (int key in drawn) text.Append($"*2\r\n$3\r\nGET\r\n${ReadServers.KeyBytes}\r\n{ReadServers.Key(key)}\r\n");
    }

    private static void MGet(StringBuilder text, IEnumerable<int> drawn)
    {
        text.Append($"*{Batch + 1}\r\n$4\r\nMGET\r\n");
        foreach (int key in drawn) text.Append($"${ReadServers.KeyBytes}\r\n{ReadServers.Key(key)}\r\n");
    }

    private static int[] Uniform()
    {
        var random = new Random(2);
        return [.. Enumerable.Range(0, Draws).Select(_ => random.Next(Keys))];
    }

    private static int[] Zipf()
    {
        double[] upTo = new double[Keys];
        double sum = 0;
        for (int i = 0; i < Keys; i++) upTo[i] = sum += 1 / Math.Pow(i + 1, ZipfExponent);
        var random = new Random(3);
        return [.. Enumerable.Range(0, Draws).Select(_ => Drawn(upTo, random.NextDouble() * sum))];
    }

    private static int Drawn(double[] upTo, double point)
    {
        int at = Array.BinarySearch(upTo, point);
        return Math.Min(Keys - 1, at < 0 ? ~at : at);
    }
}
