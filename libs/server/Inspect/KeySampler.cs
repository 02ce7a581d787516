using System.Runtime.CompilerServices;
using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>
/// Which keys a worker's clients name most, looked at all the time: one command of some <see cref="Every"/>, at places nobody can foresee. By the worker's thread;
/// whoever asks takes the lock.
/// </summary>
/// <param name="worker">Its worker.</param>
internal sealed class KeySampler(Worker worker)
{
    /// <summary>One of so many commands, on average: a look costs about a tenth of a microsecond; spread over so many, half a per cent of the shortest commands.</summary>
    internal const int Every = 256;

    /// <summary>Keys that are followed.</summary>
    internal const int Followed = 256;

    /// <summary>After so long what was seen counts half.</summary>
    internal const long HalfLifeMs = 10_000;

    private readonly Lock _gate = new();
    private TopKeys? _keys; // from the first on
    private int _left = Every;
    private long _seen;
    private long _halvedMs;

    /// <summary>So many commands are about to run: true if one of them is to be looked at.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // once a batch
    internal bool IsDue(int commands) => (_left -= commands) < 0;

    /// <summary>After <see cref="IsDue"/>: which of them, from 0; -1 when there are no more.</summary>
    internal int Next(int commands)
    {
        if (_left >= 0)
            return -1;
        int index = commands + _left;
        _left += 1 + Random.Shared.Next((2 * Every) - 1);
        return index;
    }

    /// <summary>It names this key first.</summary>
    internal void Add(ulong hash, ReadOnlySpan<byte> key)
    {
        lock (_gate)
        {
            AgeLocked(worker.NowMs);
            (_keys ??= new TopKeys(Followed)).Add(hash, key, TopKeys.Once);
            _seen += TopKeys.Once;
        }
    }

    /// <summary>Adds what was seen of each.</summary>
    /// <returns>What was seen of all together.</returns>
    internal long AddTo(KeySums sums, long nowMs)
    {
        lock (_gate)
        {
            AgeLocked(nowMs);
            _keys?.AddTo(sums);
            return _seen;
        }
    }

    private void AgeLocked(long nowMs)
    {
        long halves = (nowMs - _halvedMs) / HalfLifeMs;
        if (halves <= 0)
            return;
        int shift = (int)Math.Min(halves, 62);
        _keys?.Halve(shift);
        _seen >>= shift;
        _halvedMs = nowMs;
    }
}
