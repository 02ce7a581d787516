using Garnet.Common.Time;

namespace Garnet.Server.Base;

/// <summary>
/// Bounds the lines of the server's log that others can cause: <see cref="LinesOfSecond"/> a second; the next line says how many were left out. From
/// any thread.
/// </summary>
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
