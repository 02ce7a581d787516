using System.Runtime.InteropServices;
using Garnet.Common.Faults;
using Garnet.Types.Collections;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// The members of a chunked sorted set that have an expiry, in the order of time: a map whose keys are time and hash of the member,
/// in chunks of the third set of numbers. A sorted set needs it where a hash does not: ranks and counts have to leave out who is due,
/// so every read asks who that is. It is there from the first member with an expiry on; a packed set is small enough to be gone through.
/// Two members of one hash and one time, one pair in 2^64, would count as one of them until the first is gone.
/// sortedsets.Z3: the map has a key for each member with an expiry, and no other.
/// </summary>
public static unsafe class SortedTimes
{
    /// <summary>Adds a member that is not in it; false if there was no memory. With force it is taken beyond the limit.</summary>
    public static bool TryAdd(ref RecordEdit edit, byte* member, int bytes, long expireAtMs, bool force = false) =>
        Map(force).TryAdd(ref edit, KeyOf(ref edit, member, bytes, expireAtMs)) != null;

    /// <summary>Takes a member out that is in it.</summary>
    public static void Remove(ref RecordEdit edit, byte* member, int bytes, long expireAtMs) =>
        Check.That(Map().TryRemove(ref edit, KeyOf(ref edit, member, bytes, expireAtMs)), "sortedsets.Z3 who has an expiry is in the map");

    /// <summary>A step will come to where the member stands. False if no more may be told of now.</summary>
    internal static bool TryForesee(ref RecordEdit edit, in Entry entry) => entry.ExpireAtMs == 0
        || Map().TryForesee(ref edit, KeyOf(ref edit, entry.Key, entry.KeyBytes, entry.ExpireAtMs));

    /// <summary>True if the map, if there is one, is sound; with the sum over its keys. Its bytes come from outside.</summary>
    public static bool IsSound(ref RecordEdit edit, ref uint limit, out ulong sum)
    {
        var keys = default(KeySum);
        bool isSound = Map().IsSound(ref edit, ref keys, ref limit);
        sum = keys.Sum;
        return isSound;
    }

    private unsafe struct KeySum : IMapVisitor<TimeKey>
    {
        public ulong Sum;

        public bool Visit(ref RecordEdit edit, in TimeKey key, byte* value)
        {
            Sum += KeyedSum.Of((ulong)key.AtMs, key.Hash);
            return true;
        }
    }

    private static OrderedMap<TimeKey> Map(bool force = false) =>
        new(RootLimit.ThirdSet, RootLimit.ThirdSet | 1, step: 1, valueBytes: 0, force);

    private static TimeKey KeyOf(ref RecordEdit edit, byte* member, int bytes, long expireAtMs) =>
        new(expireAtMs, RecordEdit.Hash(member, bytes, edit.Owner));

    [StructLayout(LayoutKind.Sequential, Pack = 1)]
    private readonly record struct TimeKey(long AtMs, ulong Hash) : IComparable<TimeKey>
    {
        public int CompareTo(TimeKey other) => AtMs != other.AtMs ? AtMs.CompareTo(other.AtMs) : Hash.CompareTo(other.Hash);
    }

    /// <summary>Goes through the members that are due, the first to be so first. The set must not change meanwhile.</summary>
    public struct DueWalk
    {
        private MapPlace _place;

        /// <summary>At the end: when the next one is due, 0 if there is none.</summary>
        public long NextMs { get; private set; }

        public bool Next(ref RecordEdit edit, out Entry entry)
        {
            entry = default;
            bool isThere = Map().TryRead(ref edit, ref _place, out TimeKey key, out _);
            if (!isThere || key.AtMs > edit.NowMs)
            {
                NextMs = isThere ? key.AtMs : 0;
                return false;
            }

            _place.Index++;
            entry = Find(ref edit, key);
            return true;
        }

        private static Entry Find(ref RecordEdit edit, in TimeKey key)
        {
            Page page = ChunkedMembers.Open(ref edit, ChunkedMembers.NumberOf(key.Hash, Root.Chunks(edit.Value)));
            for (int slot = 0; slot < page.Count; slot++)
            {
                Entry entry = page.EntryAt(EntryForm.Scored, slot);
                if (entry.ExpireAtMs == key.AtMs && RecordEdit.Hash(entry.Key, entry.KeyBytes, edit.Owner) == key.Hash)
                    return entry;
            }

            Check.That(false, "sortedsets.Z3 who is in the map is a member with that expiry");
            return default;
        }
    }
}
