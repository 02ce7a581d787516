using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>What HOTKEYS START asks for.</summary>
/// <param name="TracksTime">Which keys take most time of commands.</param>
/// <param name="TracksBytes">Which keys take most bytes of requests and replies.</param>
/// <param name="Count">How many are told.</param>
/// <param name="DurationMs">It ends by itself after so many milliseconds; 0: it does not.</param>
/// <param name="Ratio">One command of so many is looked at.</param>
internal readonly record struct HotKeyOptions(bool TracksTime, bool TracksBytes, int Count, long DurationMs, int Ratio);

/// <summary>
/// One tracking session of HOTKEYS: each worker notes what its commands took, and whoever asks adds that up. Commands inside of a script count as the
/// script's, by the keys that it was given.
/// </summary>
internal sealed class HotKeySession
{
    /// <summary>
    /// Keys that are followed, of each worker: many more than are told, so that what is told of them is close to what they had. 100 KiB where
    /// keys are of ordinary length, a MiB for the longest.
    /// </summary>
    private const int Followed = 1024;

    private readonly Part[] _parts;
    private readonly Environment.ProcessCpuUsage _processorBefore;
    private long _endedMs;

    /// <summary>Begins now.</summary>
    /// <param name="options">What is asked for.</param>
    /// <param name="workers">How many there are.</param>
    /// <param name="nowMs">Unix time.</param>
    /// <param name="processor">What the process has used so far.</param>
    internal HotKeySession(HotKeyOptions options, int workers, long nowMs, Environment.ProcessCpuUsage processor)
    {
        Options = options;
        StartedMs = nowMs;
        _processorBefore = processor;
        _parts = new Part[workers];
        for (int i = 0; i < workers; i++)
            _parts[i] = new Part();
    }

    internal HotKeyOptions Options { get; }

    /// <summary>Unix time in milliseconds.</summary>
    internal long StartedMs { get; }

    /// <summary>True until it is stopped or its time is over.</summary>
    internal bool IsActive => Volatile.Read(ref _endedMs) == 0;

    /// <summary>Ends the session if its time is over.</summary>
    internal void Look(long nowMs)
    {
        if (Options.DurationMs > 0 && nowMs - StartedMs >= Options.DurationMs)
            Stop(StartedMs + Options.DurationMs);
    }

    /// <summary>Ends it; what it has stays. False if it had ended before.</summary>
    internal bool Stop(long nowMs) => Interlocked.CompareExchange(ref _endedMs, Math.Max(nowMs, 1), 0) == 0;

    /// <summary>How long it has gone on, in milliseconds.</summary>
    internal long TookMs(long nowMs) => Math.Max(0, (IsActive ? nowMs : Volatile.Read(ref _endedMs)) - StartedMs);

    /// <summary>What the process has used of the processor since the beginning.</summary>
    internal (long UserMs, long SystemMs) Processor(Environment.ProcessCpuUsage now) =>
        ((long)(now.UserTime - _processorBefore.UserTime).TotalMilliseconds,
        (long)(now.PrivilegedTime - _processorBefore.PrivilegedTime).TotalMilliseconds);

    /// <summary>
    /// A command on keys has run: true if it is one that is looked at (<see cref="Add"/>). By the worker's thread.
    /// </summary>
    internal bool Counts(Worker worker, long us, long bytes)
    {
        Part part = _parts[worker.Index];
        lock (part)
        {
            part.AllUs += us;
            part.AllBytes += bytes;
        }

        return Options.Ratio == 1 || Random.Shared.Next(Options.Ratio) == 0;
    }

    /// <summary>One of its keys takes so much of it.</summary>
    internal void Add(Worker worker, ulong hash, ReadOnlySpan<byte> key, long us, long bytes)
    {
        Part part = _parts[worker.Index];
        lock (part)
        {
            if (Options.TracksTime)
                part.Time.Add(hash, key, us);
            if (Options.TracksBytes)
            {
                part.Bytes.Add(hash, key, bytes);
                part.KeyBytes += bytes;
            }
        }
    }

    /// <summary>What all commands on keys took, and what of it those that were looked at.</summary>
    internal (long Us, long Bytes, long KeyBytes) Totals()
    {
        long us = 0, bytes = 0, keyBytes = 0;
        foreach (Part part in _parts)
        {
            lock (part)
            {
                us += part.AllUs;
                bytes += part.AllBytes;
                keyBytes += part.KeyBytes;
            }
        }

        return (us, bytes, keyBytes);
    }

    /// <summary>The keys that took most time, in microseconds, most first.</summary>
    internal List<KeyWeight> ByTime() => Top(static part => part.Time);

    /// <summary>The keys that took most bytes, most first.</summary>
    internal List<KeyWeight> ByBytes() => Top(static part => part.Bytes);

    private List<KeyWeight> Top(Func<Part, TopKeys> of)
    {
        KeySums sums = new();
        foreach (Part part in _parts)
        {
            lock (part)
                of(part).AddTo(sums);
        }

        return sums.First(Options.Count);
    }

    /// <summary>One worker's.</summary>
    private sealed class Part
    {
        internal readonly TopKeys Time = new(Followed);
        internal readonly TopKeys Bytes = new(Followed);
        internal long AllUs, AllBytes, KeyBytes;
    }
}
