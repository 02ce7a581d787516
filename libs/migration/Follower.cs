using System.Globalization;
using Garnet.Common.Time;

namespace Garnet.Migration;

/// <summary>
/// Goes along with a source that is copied: has its changes applied as they come, says how far behind that is, and comes to the end that was
/// asked for. A link that fails ends it, by an exception; another one goes on at the place that the target has then.
/// </summary>
internal sealed class Follower(MigrationOptions options, MigrationLines lines, SourceLink source, TargetLink target, Place from)
    : IDisposable
{
    private const int LookEveryMs = 100, PassesMax = 3, QuietMs = 1000, NearMs = 3_600_000;

    private readonly ChangeReader _changes = new(source, new ChangeBatch(target, from), from);
    private readonly KeyedLink _asked = KeyedLink.Open(options.Source);
    private readonly Queue<(long Offset, long AtMs)> _seen = new();
    private long _heardMs = Environment.TickCount64, _reachedMs = Environment.TickCount64, _pauseEndsMs = long.MaxValue;
    private bool _isTold;

    /// <summary>Until it has come to its end (then: whether all is well), or is told to end: null.</summary>
    internal bool? Run(CancellationToken ends)
    {
        source.Has(from.Offset, now: true);
        if (from.Times == TargetTimes.Mixed) // a cut-over was given up
            ChangeTimes(ShiftedTimes.ToLater, TargetTimes.Shifted, ends);
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
        for (long offset = _asked.Offset(); _changes.Applied < offset && GoesOn(ends);)
            Step(LookEveryMs);
        return GoesOn(ends);
    }

    private bool GoesOn(CancellationToken ends) => !ends.IsCancellationRequested && IsPaused();

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
        Ends.DemandMaster(options.Source, _asked.State());
        SetFarTimes(ends);
        if (ends.IsCancellationRequested)
            return null;
        _pauseEndsMs = pauses ? Environment.TickCount64 + (options.PauseSeconds * 1000L) : long.MaxValue;
        if (pauses)
            _asked.Pause(options.PauseSeconds);
        try
        {
            CatchUp(ends);
            long writes = _changes.Writes;
            SetNearTimes(ends);
            isWell = GoesOn(ends) && (Verify(ends) & CatchUp(ends) & StaysQuiet(writes, ends)) && GoesOn(ends);
            if (!isWell && ends.IsCancellationRequested)
                return null;
            if (!isWell && !IsPaused())
            {
                lines.Say("failed", "The pause of the source has ended too soon: nothing is cut over. "
                    + "Give --pause-source more seconds, or --verify fewer keys.");
            }
            if (!isWell)
                return false;
            Ends.DemandMaster(options.Source, _asked.State());
            _changes.Forget();
            string left = pauses ? $" Its writers wait for {options.PauseSeconds} s at most: CLIENT UNPAUSE gives it back to them." : "";
            lines.Say("done", $"Done: {options.Target} has all that {options.Source} had. "
                + $"Let clients use {options.Target} now, and stop the source.{left}");
            return true;
        }
        catch
        {
            isWell = false;
            throw;
        }
        finally
        {
            if (!isWell && pauses)
                _asked.Pause(0);
        }
    }

    // False if somebody has written since, or does in the next moment.
    private bool StaysQuiet(long writes, CancellationToken ends)
    {
        for (long endMs = Environment.TickCount64 + QuietMs; Environment.TickCount64 < endMs && _changes.Writes == writes && GoesOn(ends);)
            Step(LookEveryMs);
        if (_changes.Writes == writes)
            return true;
        lines.Say("failed", $"Nothing is cut over: writers still change {options.Source}, and what they write after the end would be lost. "
            + $"Have them wait first (CLIENT PAUSE … WRITE on {options.Source}), or run it with --pause-source SECONDS.");
        return false;
    }

    // Before writers wait: what is not due before they go on elsewhere. A key that is due sooner keeps its later time: its PERSIST or EXPIRE
    // may still be on its way.
    private void SetFarTimes(CancellationToken ends)
    {
        if (from.Times == TargetTimes.Real)
            return;
        while (!_changes.TryMark(TargetTimes.Mixed) && GoesOn(ends))
            Step(LookEveryMs);
        _changes.ShiftsUntilMs = new SystemClock().UnixMs + NearMs;
        ChangeTimes(ShiftedTimes.ToReal(_changes.ShiftsUntilMs), TargetTimes.Mixed, ends);
    }

    // While they wait and the target has everything: the rest.
    private void SetNearTimes(CancellationToken ends)
    {
        if (from.Times == TargetTimes.Real || !GoesOn(ends))
            return;
        _changes.ShiftsUntilMs = 0;
        ChangeTimes(ShiftedTimes.ToReal(0), TargetTimes.Mixed, ends);
    }

    // While it goes on, a key may get another name behind the place up to which it has come: then it is done once more.
    private void ChangeTimes(Func<long, long> changed, TargetTimes after, CancellationToken ends)
    {
        using KeyedLink there = KeyedLink.Open(options.Target);
        long? keys = 0, moves = -1;
        for (int pass = 0; pass < PassesMax && moves != _changes.Moves && keys is not null; pass++)
        {
            moves = _changes.Moves;
            keys += ShiftedTimes.ChangeAll(there, changed, () => StepsOn(ends));
        }
        if (keys is null)
            return;
        while (!_changes.TryMark(after) && GoesOn(ends))
            Step(LookEveryMs);
        string whose = after == TargetTimes.Mixed ? "the source's times" : "later times";
        lines.Say("times", string.Create(CultureInfo.InvariantCulture, $"Keys that have got {whose} of expiry: {keys}."));
    }

    private bool StepsOn(CancellationToken ends)
    {
        Step(0);
        return GoesOn(ends);
    }

    private bool Verify(CancellationToken ends)
    {
        if (options.Verified == 0)
            return true;
        using KeyedLink there = KeyedLink.Open(options.Target);
        return new Comparison(_asked, there, () => StepsOn(ends), () => CatchUp(ends), lines).Run(options.Verified);
    }
}
