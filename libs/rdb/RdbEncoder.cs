using Garnet.Common.Resp;
using Garnet.Rdb.Streams;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// Writes a record's type and value in the plain forms, which every version of Redis from 4.0 on reads; only a stream needs a form of
/// version 10, and a hash with fields that expire one of version 12. No version has a form for members of a sorted set that expire:
/// those that are not due are written without their times, which <see cref="TellsAll"/> has follow as fields of our own.
/// </summary>
public unsafe struct RdbEncoder : IExamine
{
    /// <summary>The versions that know the plain forms, streams with all they count, and fields that expire.</summary>
    public const int PlainVersion = 9, StreamVersion = 10, TimesVersion = 12;

    public RdbWriter To;

    /// <summary>The newest version that the reader knows, 0 for any: what it cannot be told is left out.</summary>
    public int ReaderVersion;

    /// <summary>What stands between type and value: the key in a file, nothing in a payload.</summary>
    public Arg Key;

    /// <summary>When the key expires, which stands in front in a file; 0 for never.</summary>
    public long ExpireAtMs;

    /// <summary>The moment by which entries are due, if it is later than the record's own.</summary>
    public long NowMs;

    /// <summary>What RDB has no form for stands in fields of our own (<see cref="OwnFields"/>), which others pass over.</summary>
    public bool TellsAll;

    /// <summary>The version a reader must know.</summary>
    public int Version;

    /// <summary>Fields lost the time at which they expire.</summary>
    public bool LostTimes;

    /// <summary>Members of a sorted set did.</summary>
    public bool LostMemberTimes;

    /// <summary>All entries are due: nothing was written.</summary>
    public bool IsEmpty;

    /// <summary>There is no form for it.</summary>
    public bool Failed;

    public void Look(ref RecordEdit record)
    {
        Version = PlainVersion;
        switch (record.Kind)
        {
            case RecordKind.String:
                TellTag(record.ETag);
                Begin(RdbType.String);
                To.String(new ReadOnlySpan<byte>(record.Value, record.ValueBytes));
                break;
            case RecordKind.List:
                WriteList(ref record);
                break;
            case RecordKind.Set:
                WriteMembers(ref record, RdbType.Set, EntryForm.Member);
                break;
            case RecordKind.SortedSet:
                WriteMembers(ref record, RdbType.SortedSet, EntryForm.Scored);
                break;
            case RecordKind.Hash when HasTimes(ref record, out long first) && !(LostTimes = ReaderVersion is > 0 and < TimesVersion):
                WriteTimes(ref record, first);
                break;
            case RecordKind.Hash:
                WriteMembers(ref record, RdbType.Hash, EntryForm.Pair);
                break;
            case RecordKind.Stream:
                Version = StreamVersion;
                bool tellsActive = ReaderVersion > StreamVersion;
                Begin(tellsActive ? RdbType.Stream3 : RdbType.Stream2);
                new StreamEncoder { TellsActive = tellsActive }.Write(ref record, ref To);
                break;
            default:
                Failed = true;
                break;
        }
    }

    private void Begin(RdbType type)
    {
        if (ExpireAtMs != 0)
        {
            To.Byte((byte)RdbMark.ExpiryMs);
            To.Int64(ExpireAtMs);
        }

        To.Byte((byte)type);
        if (Key.Bytes != null)
            To.String(Key.Span);
    }

    private void WriteList(ref RecordEdit record)
    {
        Begin(RdbType.List);
        To.Length((ulong)Root.Count(record.Value));
        ListWalk walk = ListWalk.From(ref record, 0);
        while (walk.Next(ref record))
            To.String(walk.Span);
    }

    private void WriteMembers(ref RecordEdit record, RdbType type, EntryForm form)
    {
        long nowMs = Math.Max(NowMs, record.NowMs), live = CountLive(ref record, form, nowMs);
        IsEmpty = live == 0;
        if (IsEmpty)
            return;
        Begin(type);
        To.Length((ulong)live);
        var walk = default(MemberWalk);
        while (walk.Next(ref record, form))
        {
            if (walk.Current.IsDue(nowMs))
                continue;
            LostMemberTimes |= form == EntryForm.Scored && walk.Current.ExpireAtMs != 0 && !TellsAll;
            To.String(walk.Current.KeySpan);
            if (form == EntryForm.Pair)
                To.String(walk.Current.ValueSpan);
            else if (form == EntryForm.Scored)
                To.Double(walk.Current.Score);
        }

        if (TellsAll && form == EntryForm.Scored && Root.Has(record.Value, RootFlags.Expiring))
            TellMemberTimes(ref record, nowMs);
    }

    private void TellTag(ulong tag)
    {
        if (!TellsAll || tag == 0)
            return;
        To.Byte((byte)RdbMark.Auxiliary);
        To.String(OwnFields.ETag);
        To.Length(sizeof(ulong));
        To.Int64((long)tag);
    }

    private void TellMemberTimes(ref RecordEdit record, long nowMs)
    {
        var walk = default(MemberWalk);
        while (walk.Next(ref record, EntryForm.Scored))
        {
            if (walk.Current.ExpireAtMs == 0 || walk.Current.IsDue(nowMs))
                continue;
            To.Byte((byte)RdbMark.Auxiliary);
            To.String(OwnFields.MemberTime);
            To.Length((ulong)(sizeof(long) + (long)walk.Current.KeySpan.Length));
            To.Int64(walk.Current.ExpireAtMs);
            To.Bytes.Append(walk.Current.KeySpan);
            To.Relieve();
        }
    }

    private static long CountLive(ref RecordEdit record, EntryForm form, long nowMs)
    {
        if (!Root.Has(record.Value, RootFlags.Expiring))
            return Root.Count(record.Value);
        long count = 0;
        var walk = default(MemberWalk);
        while (walk.Next(ref record, form))
            count += walk.Current.IsDue(nowMs) ? 0 : 1;
        return count;
    }

    // The least time of a field that is to expire.
    private static bool HasTimes(ref RecordEdit record, out long first)
    {
        first = long.MaxValue;
        if (!Root.Has(record.Value, RootFlags.Expiring))
            return false;
        var walk = default(MemberWalk);
        while (walk.Next(ref record, EntryForm.Pair))
        {
            if (walk.Current.ExpireAtMs != 0)
                first = Math.Min(first, walk.Current.ExpireAtMs);
        }

        return first != long.MaxValue;
    }

    private void WriteTimes(ref RecordEdit record, long first)
    {
        Version = TimesVersion;
        Begin(RdbType.HashTimes);
        To.Int64(first);
        To.Length((ulong)Root.Count(record.Value));
        var walk = default(MemberWalk);
        while (walk.Next(ref record, EntryForm.Pair))
        {
            long time = walk.Current.ExpireAtMs;
            To.Length(time == 0 ? 0 : (ulong)(time - first + 1));
            To.String(walk.Current.KeySpan);
            To.String(walk.Current.ValueSpan);
        }
    }
}
