namespace Tsavorite;

/// <summary>
/// How much may be written to a tier: so many bytes a second, for the sake of who else uses the disk, and so many a day, which is what an SSD's life is counted in.
/// Each fills evenly and holds one second's, one day's worth at most. What is due is written even if it is more than what is left; the debt is waited for.
/// One thread at a time asks and spends; limits come from any.
/// </summary>
internal sealed class WriteBudget
{
    private const long SecondMs = 1000, DayMs = 24 * 60 * 60 * SecondMs;
    private readonly Lock _gate = new();
    private Part _second = new(SecondMs), _day = new(DayMs);
    private volatile bool _isLimited;

    /// <summary>Bytes a second and a day; 0: no such limit. What is left of one that stays the same stays.</summary>
    public void Limit(long perSecond, long perDay)
    {
        lock (_gate)
        {
            _second.Limit(perSecond);
            _day.Limit(perDay);
            _isLimited = (perSecond | perDay) != 0;
        }
    }

    public void Spend(long bytes)
    {
        if (!_isLimited)
            return;
        lock (_gate)
        {
            _second.Left -= bytes;
            _day.Left -= bytes;
        }
    }

    /// <summary>Milliseconds until something may be written again; 0: now.</summary>
    public long WaitMs(long nowMs)
    {
        if (!_isLimited)
            return 0;
        lock (_gate) return Math.Max(_second.WaitMs(nowMs), _day.WaitMs(nowMs));
    }

    private struct Part(long periodMs)
    {
        public double Left;
        private long _bytes, _filledMs;

        public void Limit(long bytes)
        {
            if (bytes == _bytes)
                return;
            Left = _bytes == 0 ? bytes : Math.Min(Left, bytes); // whoever lowers and raises it has not won another day's worth
            _bytes = bytes;
        }

        public long WaitMs(long nowMs)
        {
            if (_bytes == 0)
                return 0;
            if (_filledMs != 0 && nowMs > _filledMs)
                Left = Math.Min(Left + ((double)_bytes * (nowMs - _filledMs) / periodMs), _bytes);
            _filledMs = nowMs; // a clock that was set back fills nothing
            return Left > 0 ? 0 : (long)Math.Ceiling((1 - Left) * periodMs / _bytes);
        }
    }
}
