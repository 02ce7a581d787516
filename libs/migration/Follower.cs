using System.Globalization;

namespace Garnet.Migration;

/// <summary>
/// Goes along with a source that is copied: has its changes applied as they come, says how far behind that is, and comes to the end that was
/// asked for. A link that fails ends it, by an exception; another one goes on at the place that the target has then.
/// </summary>
internal sealed class Follower(MigrationOptions options, MigrationLines lines, SourceLink source, TargetLink target, Place from)
    : IDisposable
{
    private const int LookEveryMs = 100, PassesMax = 3;

    private readonly ChangeReader _changes = new(source, new ChangeBatch(target, from), from);
    private readonly KeyedLink _asked = KeyedLink.Open(options.Source);
    private readonly Queue<(long Offset, long AtMs)> _seen = new();
    private long _heardMs = Environment.TickCount64, _reachedMs = Environment.TickCount64, _pauseEndsMs = long.MaxValue;
    private bool _isTold;

    /// <summary>Until it has come to its end (then: whether all is well), or is told to end: null.</summary>
    internal bool? Run(CancellationToken ends)
    {
        source.Has(from.Offset, now: true);
        while (!ends.IsCancellationRequested)
        {
            Step(LookEveryMs);
            if (!lines.IsTime() || !Look() || _isTold)
                continue;
            if (options.CutsOver)
                return CutOver(ends);
            if (options.EndsCaughtUp)
                return EndCaughtUp(ends);
            _isTold = true;
            lines.Say("caught-up", "The target has caught up and follows. To cut over: have writers wait (CLIENT PAUSE … WRITE on "
                + $"{options.Source}), end this, and run it again with --cut-over; "
                + "or leave the pause to --cut-over --pause-source SECONDS.");
        }
        lines.Say("stopped", string.Create(CultureInfo.InvariantCulture,
            $"Stopped: the target has all up to offset {_changes.Applied}. ")
            + "Run it again, it goes on there while the source has what follows.");
        return null;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _asked.Dispose();
        _changes.Dispose();
    }

    private void Step(int waitMs)
    {
        long now = Environment.TickCount64;
        if (source.Bytes.Waits(waitMs))
        {
            source.Bytes.Receive();
            _heardMs = now;
        }
        else if (now - _heardMs > options.Source.WaitSeconds * 1000L) // a source says something every ten seconds
            throw source.Bytes.Silent();
        _changes.Apply();
    }

    // Says how far behind it is; true if it has all that the source had when it was last asked.
    private bool Look()
    {
        long now = Environment.TickCount64, offset = _asked.Offset(), applied = _changes.Applied;
        bool reached = _seen.Count > 0 && _seen.Last().Offset <= applied;
        for (; _seen.TryPeek(out (long Offset, long AtMs) one) && one.Offset <= applied; _seen.Dequeue())
            _reachedMs = one.AtMs;
        long lag = Math.Max(0, offset - applied), behindMs = lag == 0 ? 0 : now - _reachedMs;
        _seen.Enqueue((offset, now));
        lines.Tell("following", string.Create(CultureInfo.InvariantCulture,
                $"following: {_changes.Commands} commands, {MigrationLines.Megabytes(lag)} MB and {behindMs / 1000} s behind"),
            ("commands", _changes.Commands), ("offset", applied), ("lag_bytes", lag), ("lag_ms", behindMs));
        return reached || lag == 0;
    }

    // All that the source has at this moment; false if it is to end, or a pause has ended, before that.
    private bool CatchUp(CancellationToken ends)
    {
        for (long offset = _asked.Offset(); _changes.Applied < offset && !ends.IsCancellationRequested && IsPaused();)
            Step(LookEveryMs);
        return !ends.IsCancellationRequested && IsPaused();
    }

    private bool IsPaused() => Environment.TickCount64 < _pauseEndsMs;

    private bool? EndCaughtUp(CancellationToken ends)
    {
        CatchUp(ends);
        bool isSame = Verify(ends);
        if (ends.IsCancellationRequested)
            return null;
        lines.Say("ended", string.Create(CultureInfo.InvariantCulture,
            $"The target has all up to offset {_changes.Applied}. Run it again to go on there, or with --cut-over once writers wait."));
        return isSame;
    }

    private bool? CutOver(CancellationToken ends)
    {
        bool pauses = options.PauseSeconds > 0, isWell = false;
        SetTimes(ends);
        long moves = _changes.Moves;
        _pauseEndsMs = pauses ? Environment.TickCount64 + (options.PauseSeconds * 1000L) : long.MaxValue;
        if (pauses)
            _asked.Pause(options.PauseSeconds);
        try
        {
            CatchUp(ends);
            if (_changes.Moves != moves)
                SetTimes(ends);
            isWell = Verify(ends) & CatchUp(ends);
            if (ends.IsCancellationRequested)
                return null;
            if (!IsPaused())
            {
                lines.Say("failed", "The pause of the source has ended too soon: nothing is cut over. "
                    + "Give --pause-source more seconds, or --verify fewer keys.");
            }
            if (!isWell)
                return false;
            target.Forget();
            string left = pauses ? $" Its writers wait for {options.PauseSeconds} s at most: CLIENT UNPAUSE gives it back to them." : "";
            lines.Say("done", $"Done: {options.Target} has all that {options.Source} had. "
                + $"Let clients use {options.Target} now, and stop the source.{left}");
            return true;
        }
        finally
        {
            if (!isWell && pauses)
                _asked.Pause(0);
        }
    }

    // While it goes on, a key may get another name behind the place up to which it has come: then it is done once more.
    private void SetTimes(CancellationToken ends)
    {
        if (!from.IsShifted)
            return;
        _changes.Shifts = false;
        using KeyedLink there = KeyedLink.Open(options.Target);
        long? keys = 0, moves = -1;
        for (int pass = 0; pass < PassesMax && moves != _changes.Moves && keys is not null; pass++)
        {
            moves = _changes.Moves;
            keys += ShiftedTimes.SetAll(there, () => Step(0), ends);
        }
        if (keys is null)
            return;
        _changes.IsShifted = false;
        lines.Say("times", string.Create(CultureInfo.InvariantCulture, $"Keys that have the source's times of expiry now: {keys}."));
    }

    private bool Verify(CancellationToken ends)
    {
        if (options.Verified == 0)
            return true;
        using KeyedLink there = KeyedLink.Open(options.Target);
        return new Comparison(_asked, there, () => CatchUp(ends), lines).Run(options.Verified);
    }
}
