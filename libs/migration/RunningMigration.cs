using System.Globalization;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// Takes over a running Redis: as its replica first all data, then all changes, each given to the target at once. The source is never written to.
///
/// migration.M1  Changes and the place behind them are one transaction of the target, so that none is applied twice or left out, whichever of the
///               three processes ends and begins again.
/// migration.M2  What the source is told that we have is what the target has answered for.
/// migration.M3  Nothing of the target is removed or written over unless that was asked for.
/// </summary>
public sealed class RunningMigration(MigrationOptions options, MigrationLines lines) : IDisposable
{
    private const int TriesMax = 60, BetweenTriesMs = 1000, InVainMax = 5;
    private const string Anew = "run it again with --replace, which removes what the target holds and begins anew";

    private SourceLink? _source;
    private TargetLink? _target;
    private Place _place = new("", -1, 0, TargetTimes.Real);

    /// <summary>True once the end that was asked for is reached, and all is well.</summary>
    public bool Run(CancellationToken ends)
    {
        try
        {
            if (options.Scans)
                return new KeyScan(options, lines).Run(ends);
            if (!Begin(ends))
                return false;
            for (int inVain = 0; inVain < InVainMax;)
            {
                (long offset, long beganMs) = (_place.Offset, Environment.TickCount64);
                if (TryFollow(ends, out bool? isWell))
                    return isWell ?? !(options.CutsOver || options.EndsCaughtUp);
                bool lasted = Environment.TickCount64 - beganMs > 2000L * options.Source.WaitSeconds;
                if (!GoOn(ends))
                    return false;
                inVain = lasted || _place.Offset > offset ? 0 : inVain + 1;
            }
            lines.Say("failed", $"Given up: {InVainMax} connections in a row have brought nothing. "
                + "Run it again, it goes on where the target is.");
            return false;
        }
        catch (Exception e) when (ByteLink.IsLost(e))
        {
            lines.Say("failed", GivenUp(e));
            return false;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _source?.Dispose();
        _target?.Dispose();
    }

    private string GivenUp(Exception e)
    {
        string why = $"{e.Message.TrimEnd('.')}.";
        return e is not NotReachedException { Address: var address } ? $"Given up: {why}"
            : $"Given up: the {(address == options.Source ? "source" : "target")} {why} "
                + "Start it, or name the address at which this machine reaches it, and run this again.";
    }

    private bool TryFollow(CancellationToken ends, out bool? isWell)
    {
        isWell = null;
        try
        {
            using var follower = new Follower(options, lines, _source!, _target!, _place);
            isWell = follower.Run(ends);
            return true;
        }
        catch (Exception e) when (ByteLink.IsLost(e))
        {
            lines.Say("lost", $"A connection is lost: {e.Message.TrimEnd('.')}. Trying to go on where the target is.");
            return false;
        }
    }

    // False if it was told to end.
    private bool Begin(CancellationToken ends)
    {
        if (!Ends.TryDemand(options, lines, ends))
            return false;
        _target = TargetLink.Open(options.Target);
        Place? place = _target.ReadPlace();
        if (!options.Replaces && place is null)
            _target.DemandEmpty();
        if (!options.Replaces && place is { IsCopying: true })
        {
            throw new GarnetException(
                ExitKind.Configuration, "the target cannot be gone on with", "an earlier copy did not come to its end", Capital(Anew));
        }
        bool goesOn = place is { IsCopying: false };
        _source = SourceLink.Open(options.Source, goesOn ? place!.History : "", goesOn ? place!.Offset : -1);
        if (!_source.IsFull)
        {
            _place = place! with { History = _source.History };
            lines.Say("resumed", string.Create(CultureInfo.InvariantCulture,
                $"Going on at offset {_place.Offset}, up to which the target has everything."));
            return true;
        }
        if (goesOn && !options.Replaces)
            throw Outdated(place!);
        return Copy(place, ends);
    }

    private bool Copy(Place? before, CancellationToken ends)
    {
        SourceLink source = _source!;
        TargetLink target = _target!;
        using var announced = Announcement.Make(options.Target, ends);
        lines.Say("copying", $"Copying from {options.Source} to {options.Target}; the source prepares its data first.");
        string? mark = source.BeginRdb(ends);
        if (mark is null)
        {
            lines.Say("stopped", "Stopped before anything was copied.");
            return false;
        }
        if (options.Replaces) // migration.M3
            target.Clear();
        target.ShiftsTimes = target.TellsTimes();
        TargetTimes times = target.ShiftsTimes ? TargetTimes.Shifted : TargetTimes.Real;
        var copying = new Place(source.History, -1, 0, times) { Token = announced.Token };
        target.WritePlace(copying, options.Replaces ? null : before);
        using var reader = new RdbReader(source.Bytes, source.RdbBytes);
        try
        {
            if (!TryTake(reader, copying, mark, ends))
                return false;
        }
        catch (Exception e) when (ByteLink.IsLost(e))
        {
            throw new IOException($"{e.Message.TrimEnd('.')}, in the middle of the copy: {Anew}{Advice()}", e);
        }
        _place = new Place(source.History, source.Offset, 0, times);
        target.WritePlace(_place, copying);
        string left = reader.Skipped == 0 ? ""
            : string.Create(CultureInfo.InvariantCulture, $" Data of modules beside keys were left out: {reader.Skipped}.");
        lines.Say("copied", string.Create(CultureInfo.InvariantCulture,
            $"Copied {target.Keys} keys and {target.Functions} libraries of functions. Following the changes now.{left}"));
        return true;
    }

    // What else there is to do before another run, by whose link has failed.
    private string Advice()
    {
        if (_target!.Bytes.HasFailed)
            return ". Before that see to the target: its log says why it ended, or it has too much to do";
        return _source!.Bytes.HasFailed
            ? ". A source gives up replicas for which too many changes wait: "
                + "its client-output-buffer-limit for replicas may have to be higher"
            : "";
    }

    // False if it was told to end.
    private bool TryTake(RdbReader reader, Place copying, string mark, CancellationToken ends)
    {
        TargetLink target = _target!;
        reader.Begin();
        long beganMs = Environment.TickCount64;
        while (reader.Next(target))
        {
            if (ends.IsCancellationRequested)
            {
                lines.Say("stopped", $"Stopped in the middle of the copy: {Anew}.");
                return false;
            }
            if (!lines.IsTime())
                continue;
            target.Drain(0);
            target.DemandPlace(copying);
            TellCopy(reader.Read, Environment.TickCount64 - beganMs);
        }
        if (mark.Length == 0 ? reader.Read != _source!.RdbBytes : !_source!.TryEndRdb(mark))
            throw reader.Damage("they do not end where the source said");
        target.Drain(0);
        TellCopy(reader.Read, Environment.TickCount64 - beganMs);
        return true;
    }

    private void TellCopy(long bytes, long elapsedMs)
    {
        long all = _source!.RdbBytes, rate = elapsedMs > 0 ? (long)(bytes * 1000.0 / elapsedMs) : 0, keys = _target!.Keys;
        string share = all > 0 ? $" of {MigrationLines.Megabytes(all)}" : "";
        string left = all > 0 && rate > 0
            ? string.Create(CultureInfo.InvariantCulture, $", about {((all - bytes) / rate) + 1} s left") : "";
        lines.Tell("copying", string.Create(CultureInfo.InvariantCulture,
                $"copying: {keys} keys, {MigrationLines.Megabytes(bytes)}{share} MB, {MigrationLines.Megabytes(rate)} MB/s{left}"),
            ("keys", keys), ("bytes", bytes), ("bytes_total", all), ("bytes_per_second", rate));
    }

    // Connects to both again, from the place on that the target has (migration.M1). False if it was told to end.
    private bool GoOn(CancellationToken ends)
    {
        for (int attempt = 1; ; attempt++)
        {
            if (ends.WaitHandle.WaitOne(BetweenTriesMs))
                return false;
            try
            {
                Connect();
                lines.Say("resumed", string.Create(CultureInfo.InvariantCulture, $"Connected again, going on at offset {_place.Offset}."));
                return true;
            }
            catch (Exception e) when (ByteLink.IsLost(e) && attempt < TriesMax)
            {
                lines.Tell("waiting", $"not connected again yet: {e.Message}", ("attempt", attempt));
            }
        }
    }

    private void Connect()
    {
        Dispose();
        _target = TargetLink.Open(options.Target);
        _place = _target.ReadPlace() ?? throw new GarnetException(ExitKind.Data, $"the target {options.Target} has lost what it had",
            $"its key {Place.Name} is gone: it has started without its data", Capital(Anew));
        if (_place.IsCopying)
            throw _target.Taken();
        _source = SourceLink.Open(options.Source, _place.History, _place.Offset);
        if (_source.IsFull)
            throw Outdated(_place);
        _place = _place with { History = _source.History };
    }

    private static string Capital(string text) => char.ToUpperInvariant(text[0]) + text[1..];

    private GarnetException Outdated(Place place) => new(ExitKind.Data, $"{options.Source} cannot go on where the target is",
        $"it has no changes from offset {place.Offset} on any more, or is another server than before",
        $"{Capital(Anew)}; a higher repl-backlog-size of the source lets it go on after longer breaks");
}
