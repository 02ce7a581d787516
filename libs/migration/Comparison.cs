using System.Globalization;
using Garnet.Rdb;

namespace Garnet.Migration;

/// <summary>
/// Holds keys of two servers against each other by what they hold, in whatever encoding. Keys that differ while writers go on are looked at again,
/// once the target has what the source had then (<paramref name="catchUp"/>, which says whether to go on).
/// </summary>
internal sealed class Comparison(KeyedLink source, KeyedLink target, Func<bool> goesOn, Func<bool> catchUp, MigrationLines lines)
{
    private const int Together = 32, LookedForTogether = 500, RoundsMax = 6, NamedMax = 10, DifferingMax = 100_000;
    private const long ClocksApartMs = 5000;

    private readonly List<(int Database, byte[] Key)> _differing = [];
    private bool _isEnded;

    /// <summary>True if so many keys, by chance or all, are the same, and no database lacks one.</summary>
    internal bool Run(long wanted)
    {
        SortedDictionary<int, long> counts = TargetLink.Count(source.Bytes);
        long all = counts.Values.Sum(), compared = 0;
        foreach ((int database, long keys) in counts)
        {
            long share = 1 + (long)((double)wanted * keys / all);
            compared += Compare(database, wanted >= all ? source.Walk(database) : Sample(database, share), compared);
        }
        CountAgain();
        for (int round = 1; _differing.Count > 0 && round < RoundsMax && GoesOn() && catchUp(); round++)
        {
            (int Database, byte[] Key)[] again = [.. _differing];
            _differing.Clear();
            foreach (IGrouping<int, byte[]> some in again.GroupBy(static one => one.Database, static one => one.Key))
                Compare(some.Key, some, 0);
        }
        if (!GoesOn())
        {
            lines.Say("ended", string.Create(
                CultureInfo.InvariantCulture, $"The comparison has ended too soon, at {compared} of {all} keys."));
            return false;
        }
        foreach ((int database, byte[] key) in _differing.Take(NamedMax))
            lines.Say("differs", string.Create(CultureInfo.InvariantCulture, $"Differs: {Answer.Shown(key)} of database {database}."));
        lines.Say("verified", string.Create(
            CultureInfo.InvariantCulture, $"Compared {compared} of {all} keys: {_differing.Count} differ."));
        return _differing.Count == 0;
    }

    private bool GoesOn()
    {
        _isEnded = _isEnded || !goesOn();
        return !_isEnded;
    }

    // Of the target's keys: those that it lacks are found by their number.
    private IEnumerable<byte[]> Sample(int database, long count)
    {
        for (; count > 0 && target.Any(database) is { } key; count--)
            yield return key;
    }

    private long Compare(int database, IEnumerable<byte[]> keys, long before)
    {
        long compared = 0;
        foreach (byte[][] some in keys.Where(key => !Place.Is(database, key)).Chunk(Together))
        {
            if (!GoesOn())
                break;
            source.Ask(database, some);
            target.Ask(database, some);
            foreach (byte[] key in some)
            {
                (long LeftMs, byte[]? Payload) wanted = source.ReadValue(), found = target.ReadValue();
                if (!IsSame(wanted, found))
                    _differing.Add((database, key));
            }
            compared += some.Length;
            Tell("comparing", before + compared);
        }
        return compared;
    }

    // Where the numbers of keys differ (also for those that are due and not removed yet), each key that only one has is looked for.
    private void CountAgain()
    {
        SortedDictionary<int, long> ofSource = TargetLink.Count(source.Bytes), ofTarget = TargetLink.Count(target.Bytes);
        foreach (int database in ofSource.Keys.Union(ofTarget.Keys))
        {
            byte[][] place = [Place.Key];
            long places = database == 0 && !target.Lacking(0, place).Any() && source.Lacking(0, place).Any() ? 1 : 0;
            if (ofSource.GetValueOrDefault(database) == ofTarget.GetValueOrDefault(database) - places)
                continue;
            LookFor(database, target, source);
            LookFor(database, source, target);
        }
    }

    // What one has and the other does not is compared again: a key that is due there has no value, and is no difference.
    private void LookFor(int database, KeyedLink from, KeyedLink at)
    {
        long looked = 0;
        foreach (byte[][] some in from.Walk(database).Where(key => !Place.Is(database, key)).Chunk(LookedForTogether))
        {
            if (_differing.Count >= DifferingMax || !GoesOn())
                return;
            _differing.AddRange(at.Lacking(database, some).Select(key => (database, key)));
            looked += some.Length;
            Tell("looking for what only one has", looked);
        }
    }

    private void Tell(string what, long keys)
    {
        if (lines.IsTime())
            lines.Tell("comparing", string.Create(CultureInfo.InvariantCulture, $"{what}: {keys} keys"), ("keys", keys));
    }

    // A key that is due by now or in a moment may be gone on one side already.
    private static bool IsSame((long LeftMs, byte[]? Payload) one, (long LeftMs, byte[]? Payload) other)
    {
        if (one.Payload is null || other.Payload is null)
            return IsDue(one) && IsDue(other);
        bool expires = one.LeftMs >= 0;
        if (expires != other.LeftMs >= 0 || (expires && Math.Abs(one.LeftMs - other.LeftMs) > ClocksApartMs))
            return false;
        return one.Payload.AsSpan().SequenceEqual(other.Payload)
            || (RdbDigest.Of(one.Payload) is { } digest && RdbDigest.Of(other.Payload) is { } same && digest.AsSpan().SequenceEqual(same));
    }
    private static bool IsDue((long LeftMs, byte[]? Payload) one) => one.Payload is null || one.LeftMs is >= 0 and < ClocksApartMs;
}
