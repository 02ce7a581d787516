using System.Globalization;
using Garnet.Common;
using Garnet.Common.Time;

namespace Garnet.Migration;

/// <summary>
/// Copies key by key (SCAN, DUMP, RESTORE), for sources that take no replicas. What is written meanwhile may be in the copy or not, and it says so.
/// </summary>
internal sealed class KeyScan(MigrationOptions options, MigrationLines lines)
{
    private const int Together = 32;

    internal bool Run(CancellationToken ends)
    {
        if (!Ends.TryDemand(options, lines, ends))
            return false;
        using TargetLink target = TargetLink.Open(options.Target);
        using KeyedLink source = KeyedLink.Open(options.Source);
        using var announced = Announcement.Make(options.Target, ends);
        if (options.Replaces)
            target.Clear();
        else
            target.DemandEmpty();
        lines.Say("scanning", "Copying key by key: what is written to the source meanwhile may be in the copy or not. "
            + "Have writers wait for a copy of one moment.");
        TakeFunctions(source, target);
        foreach ((int database, long keys) in TargetLink.Count(source.Bytes))
        {
            if (!TryTake(source, target, database, ends))
                return false;
        }
        target.Drain(0);
        lines.Say("copied", string.Create(CultureInfo.InvariantCulture, $"Copied {target.Keys} keys."));
        using KeyedLink there = KeyedLink.Open(options.Target);
        return options.Verified == 0
            || new Comparison(source, there, () => !ends.IsCancellationRequested, static () => true, lines).Run(options.Verified);
    }

    private bool TryTake(KeyedLink source, TargetLink target, int database, CancellationToken ends)
    {
        var clock = new SystemClock();
        foreach (byte[][] some in source.Walk(database).Chunk(Together))
        {
            source.Ask(database, some);
            foreach (byte[] key in some)
            {
                (long leftMs, byte[]? payload) = source.ReadValue();
                if (payload is not null)
                    target.TakeKey(database, key, leftMs < 0 ? 0 : clock.UnixMs + leftMs, payload);
            }
            if (ends.IsCancellationRequested)
            {
                lines.Say("stopped", "Stopped in the middle of the copy: run it again with --replace.");
                return false;
            }
            if (lines.IsTime())
                lines.Tell("copying", string.Create(CultureInfo.InvariantCulture, $"copying: {target.Keys} keys"), ("keys", target.Keys));
        }
        return true;
    }

    // A source before 7.0 has none.
    private static void TakeFunctions(KeyedLink source, TargetLink target)
    {
        Answer dump = source.Bytes.Call("FUNCTION", "DUMP");
        if (dump.IsError || dump.IsNil)
            return;
        Answer said = target.Bytes.Call("FUNCTION"u8.ToArray(), "RESTORE"u8.ToArray(), dump.Bytes);
        if (!said.IsOk)
            throw target.Refusal("the libraries of functions", said);
    }
}
