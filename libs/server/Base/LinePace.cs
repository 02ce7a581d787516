using Garnet.Common.Time;

namespace Garnet.Server.Base;

/// <summary>How often a stranger may make the server write a line of its log: a few a second, and how many were not written with the next one. From any thread.</summary>
internal sealed class LinePace(IClock clock)
{
    private const int LinesOfSecond = 5;

    private readonly Lock _gate = new();
    private long _second = -1, _unsaid;
    private int _said;

    /// <summary>True if a line may be written now; then <paramref name="unsaid"/> is how many were not since the last one.</summary>
    internal bool Allows(out long unsaid)
    {
        lock (_gate)
        {
            long second = clock.MonotonicUs / 1_000_000;
            if (second != _second)
                (_second, _said) = (second, 0);
            if (_said == LinesOfSecond)
            {
                _unsaid++;
                unsaid = 0;
                return false;
            }

            _said++;
            (unsaid, _unsaid) = (_unsaid, 0);
            return true;
        }
    }
}
