using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Soundness;

/// <summary>
/// Proves values that come from outside: whoever reads or changes a value trusts its offsets, counts and orders, and nothing of a peer or a
/// file is believed because a checksum holds. One check for each form a value can have, each reading the bytes once and nothing outside
/// them; what a check does not say, no code may assume.
/// soundness.V3: a form that is added here is added to the check of its kind, and to the fuzzers of HostileValueTests.
/// soundness.V4: only what code relies on for the safety of memory is asked for: else values that earlier versions wrote would be refused. A count of
/// entries ever added, or a member that stands twice in a page that no search ends at twice, harms nobody.
/// </summary>
public sealed unsafe class ValueCheck : IValueCheck
{
    public static readonly ValueCheck Instance = new();

    private ValueCheck()
    {
    }

    /// <inheritdoc/>
    public bool IsSound(RecordKind kind, ReadOnlySpan<byte> value)
    {
        fixed (byte* at = value)
            return IsSound(kind, at, value.Length);
    }

    /// <summary>True if these bytes are a whole value of that kind without chunks.</summary>
    public static bool IsSound(RecordKind kind, byte* value, int bytes) => kind switch
    {
        RecordKind.String => true, // a HyperLogLog is judged by each command that takes a string for one
        RecordKind.Hash => MembersCheck.ArePacked(value, bytes, EntryForm.Pair),
        RecordKind.SortedSet => MembersCheck.ArePacked(value, bytes, EntryForm.Scored),
        RecordKind.Set => MembersCheck.AreIntegers(value, bytes) || MembersCheck.ArePacked(value, bytes, EntryForm.Member),
        RecordKind.List => SequenceCheck.IsPacked(value, bytes),
        _ => false,
    };

    /// <inheritdoc/>
    public long TimedPartsFrom(RecordKind kind, ReadOnlySpan<byte> value)
    {
        fixed (byte* at = value)
            return EntriesDueFrom(kind, at, value.Length);
    }

    /// <summary>When the first entry of the collection with this value is due; 0 where its chunks say it, the end of time if no entry ever is.</summary>
    public static long EntriesDueFrom(RecordKind kind, byte* value, int bytes)
    {
        if (!EntriesMayExpire(kind, value, bytes))
            return long.MaxValue;
        if (Root.IsChunked(value))
            return 0;
        EntryForm form = kind == RecordKind.Hash ? EntryForm.Pair : EntryForm.Scored;
        long from = long.MaxValue;
        byte* end = value + bytes;
        for (byte* at = value + Root.PackedBytes; Entry.TryRead(form, at, end, out Entry entry); at += entry.Bytes)
        {
            if (entry.ExpireAtMs != 0)
                from = Math.Min(from, entry.ExpireAtMs);
        }

        return from;
    }

    /// <summary>True if an entry of the collection with this value may have an expiry.</summary>
    public static bool EntriesMayExpire(RecordKind kind, byte* value, int bytes) =>
        kind is RecordKind.Hash or RecordKind.SortedSet && bytes > 0 && Root.Has(value, RootFlags.Expiring);

    /// <inheritdoc/>
    public bool IsSound(ref RecordEdit record, out uint limit)
    {
        limit = 0;
        return record.Kind switch
        {
            RecordKind.Hash => MembersCheck.AreChunked(ref record, EntryForm.Pair, ref limit, out _),
            RecordKind.Set => MembersCheck.AreChunked(ref record, EntryForm.Member, ref limit, out _),
            RecordKind.SortedSet => SortedCheck.IsSound(ref record, ref limit),
            RecordKind.List => SequenceCheck.IsChunked(ref record, ref limit),
            RecordKind.Stream => StreamCheck.IsSound(ref record, ref limit),
            _ => false,
        };
    }
}
