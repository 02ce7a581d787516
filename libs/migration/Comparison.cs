using System.Globalization;
using Garnet.Rdb;

namespace Garnet.Migration;

/// <summary>
/// Holds keys of two servers against each other by what they hold, in whatever encoding. Keys that differ while writers go on are looked at again,
/// once the target has what the source had then.
/// </summary>
internal sealed class Comparison(KeyedLink source, KeyedLink target, Action catchUp, MigrationLines lines)
{
    private const int Together = 32, RoundsMax = 6, NamedMax = 10;
    private const long ClocksApartMs = 5000;

    private readonly List<(int Database, byte[] Key)> _differing = [];

    /// <summary>True if so many keys, by chance or all, are the same, and each database has as many.</summary>
    internal bool Run(long wanted)
    {
        SortedDictionary<int, long> counts = TargetLink.Count(source.Bytes);
        long all = counts.Values.Sum(), compared = 0;
        foreach ((int database, long keys) in counts)
        {
            long share = 1 + (long)((double)wanted * keys / all);
            compared += Compare(database, wanted >= all ? source.Walk(database) : Sample(database, share));
        }
        CountAgain();
        for (int round = 1; _differing.Count > 0 && round < RoundsMax; round++)
        {
            catchUp();
            (int Database, byte[] Key)[] again = [.. _differing];
            _differing.Clear();
            foreach (IGrouping<int, byte[]> some in again.GroupBy(static one => one.Database, static one => one.Key))
                Compare(some.Key, some);
        }
        foreach ((int database, byte[] key) in _differing.Take(NamedMax))
            lines.Say("differs", string.Create(CultureInfo.InvariantCulture, $"Differs: {Answer.Shown(key)} of database {database}."));
        lines.Say("verified", string.Create(
            CultureInfo.InvariantCulture, $"Compared {compared} of {all} keys: {_differing.Count} differ."));
        return _differing.Count == 0;
    }

    private IEnumerable<byte[]> Sample(int database, long count)
    {
        for (; count > 0 && source.Any(database) is { } key; count--)
            yield return key;
    }

    private long Compare(int database, IEnumerable<byte[]> keys)
    {
        long compared = 0;
        foreach (byte[][] some in keys.Where(key => !Place.Is(database, key)).Chunk(Together))
        {
            source.Ask(database, some);
            target.Ask(database, some);
            foreach (byte[] key in some)
            {
                (long LeftMs, byte[]? Payload) wanted = source.ReadValue(), found = target.ReadValue();
                if (!IsSame(wanted, found))
                    _differing.Add((database, key));
            }
            compared += some.Length;
        }
        return compared;
    }

    // Where the numbers of keys differ (also for those that are due and not removed yet), each key that only one has is looked for.
    private void CountAgain()
    {
        SortedDictionary<int, long> ofSource = TargetLink.Count(source.Bytes), ofTarget = TargetLink.Count(target.Bytes);
        foreach (int database in ofSource.Keys.Union(ofTarget.Keys))
        {
            long place = database == 0 && target.Has(0, Place.Key) && !source.Has(0, Place.Key) ? 1 : 0;
            if (ofSource.GetValueOrDefault(database) == ofTarget.GetValueOrDefault(database) - place)
                continue;
            Lacking(database, target, source);
            Lacking(database, source, target);
        }
    }

    private void Lacking(int database, KeyedLink from, KeyedLink at)
    {
        foreach (byte[] key in from.Walk(database))
        {
            if (!Place.Is(database, key) && !at.Has(database, key))
                _differing.Add((database, key));
        }
    }

    private static bool IsSame((long LeftMs, byte[]? Payload) one, (long LeftMs, byte[]? Payload) other)
    {
        if (one.Payload is null || other.Payload is null)
            return one.Payload is null && other.Payload is null;
        bool expires = one.LeftMs >= 0;
        if (expires != other.LeftMs >= 0 || (expires && Math.Abs(one.LeftMs - other.LeftMs) > ClocksApartMs))
            return false;
        return one.Payload.AsSpan().SequenceEqual(other.Payload)
            || (RdbDigest.Of(one.Payload) is { } digest && RdbDigest.Of(other.Payload) is { } same && digest.AsSpan().SequenceEqual(same));
    }
}
