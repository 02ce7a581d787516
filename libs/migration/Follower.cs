using System.Globalization;

namespace Garnet.Migration;

/// <summary>
/// Goes along with a source that is copied: has its changes applied as they come, says how far behind that is, and comes to the end that was
/// asked for. A link that fails ends it, by an exception; another one goes on at the place that the target has then.
/// </summary>
internal sealed class Follower(MigrationOptions options, MigrationLines lines, SourceLink source, TargetLink target, Place from) : IDisposable
{
    private const int LookEveryMs = 100;
    private const long SilentMsMax = 120_000; // a source says something every ten seconds

    private readonly ChangeReader _changes = new(source, new ChangeBatch(target), from);
    private readonly KeyedLink _asked = KeyedLink.Open(options.Source);
    private readonly Queue<(long Offset, long AtMs)> _seen = new();
    private long _heardMs = Environment.TickCount64, _reachedMs = Environment.TickCount64;
    private bool _isTold;

    /// <summary>Until it has come to its end (then: whether all is well), or is told to end: null.</summary>
    internal bool? Run(CancellationToken ends)
    {
        source.Has(from.Offset, now: true);
        while (!ends.IsCancellationRequested)
        {
            Step();
            if (!lines.IsTime() || !Look() || _isTold)
                continue;
            if (options.CutsOver)
                return CutOver(ends);
            if (options.EndsCaughtUp)
                return EndCaughtUp(ends);
            _isTold = true;
            lines.Say("caught-up", $"The target has caught up and follows. To cut over: have writers wait (CLIENT PAUSE … WRITE on {options.Source}), end this, "
                + "and run it again with --cut-over; or leave the pause to --cut-over --pause-source SECONDS.");
        }
        lines.Say("stopped", string.Create(CultureInfo.InvariantCulture,
            $"Stopped: the target has all up to offset {_changes.Applied}. Run it again, it goes on there while the source has what follows."));
        return null;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _asked.Dispose();
        _changes.Dispose();
    }

    private void Step()
    {
        long now = Environment.TickCount64;
        if (source.Bytes.Waits(LookEveryMs))
        {
            source.Bytes.Receive();
            _heardMs = now;
        }
        else if (now - _heardMs > SilentMsMax)
            throw new IOException($"{options.Source} has said nothing for {SilentMsMax / 1000} seconds");
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

    // All that the source has at this moment.
    private void CatchUp(CancellationToken ends)
    {
        for (long offset = _asked.Offset(); _changes.Applied < offset && !ends.IsCancellationRequested;)
            Step();
    }

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
        long beganMs = Environment.TickCount64;
        if (options.PauseSeconds > 0)
            _asked.Pause(options.PauseSeconds);
        bool isWell = false;
        try
        {
            CatchUp(ends);
            isWell = Verify(ends);
            CatchUp(ends);
            if (ends.IsCancellationRequested)
                return null;
            if (options.PauseSeconds > 0 && Environment.TickCount64 - beganMs >= options.PauseSeconds * 1000L)
            {
                isWell = false;
                lines.Say("failed", "The pause of the source has ended too soon: nothing is cut over. Give --pause-source more seconds, or --verify fewer keys.");
            }
            if (!isWell)
                return false;
            target.Forget();
            string pause = options.PauseSeconds > 0 ? $" Its writers wait for {options.PauseSeconds} s at most: CLIENT UNPAUSE gives it back to them." : "";
            lines.Say("done", $"Done: {options.Target} has all that {options.Source} had. Let clients use {options.Target} now, and stop the source.{pause}");
            return true;
        }
        finally
        {
            if (!isWell && options.PauseSeconds > 0)
                _asked.Pause(0);
        }
    }

    private bool Verify(CancellationToken ends)
    {
        if (options.Verified == 0)
            return true;
        using KeyedLink there = KeyedLink.Open(options.Target);
        return new Comparison(_asked, there, () => CatchUp(ends), lines).Run(options.Verified);
    }
}
