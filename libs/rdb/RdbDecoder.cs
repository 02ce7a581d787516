using System.Globalization;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Rdb.Streams;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// Reads one value of any form that RDB versions 1 to 12 know, from bytes that nobody vouches for: what comes out is whole and
/// sound (no member twice, no score that is no number, no collection without members), or nothing does.
/// </summary>
public static unsafe class RdbDecoder
{
    private const int NodePlain = 1, NodePacked = 2;

    /// <summary>Reads the value behind its type byte; the caller gives it back whatever comes out.</summary>
    public static bool TryRead(ref RdbCursor from, RdbType type, RdbValue to)
    {
        to.Kind = KindOf(type);
        if (to.Kind == RecordKind.None)
            return false;
        if (type == RdbType.String)
        {
            bool there = from.TryString(out Arg text);
            to.Hold(text);
            return there;
        }

        if (to.Kind == RecordKind.Stream)
            return new StreamDecoder(type, to.Stream = new StreamValue()).TryRead(ref from);
        return TryCollection(ref from, type, to) && to.Count > 0 && (to.Kind == RecordKind.List || !to.HasTwins());
    }

    /// <summary>What a type becomes; <see cref="RecordKind.None"/> if it is not known.</summary>
    public static RecordKind KindOf(RdbType type) => type switch
    {
        RdbType.String => RecordKind.String,
        RdbType.List or RdbType.ListZipList or RdbType.QuickList or RdbType.QuickList2 => RecordKind.List,
        RdbType.Set or RdbType.IntegerSet or RdbType.SetListPack => RecordKind.Set,
        RdbType.SortedSetText or RdbType.SortedSet or RdbType.SortedSetZipList or RdbType.SortedSetListPack => RecordKind.SortedSet,
        RdbType.Hash or RdbType.ZipMap or RdbType.HashZipList or RdbType.HashListPack or RdbType.HashTimes or RdbType.HashTimesListPack =>
            RecordKind.Hash,
        RdbType.Stream or RdbType.Stream2 or RdbType.Stream3 => RecordKind.Stream,
        _ => RecordKind.None,
    };

    private static bool TryCollection(ref RdbCursor from, RdbType type, RdbValue to) => type switch
    {
        RdbType.List or RdbType.Set => TryStrings(ref from, 1, to),
        RdbType.Hash => TryStrings(ref from, 2, to),
        RdbType.SortedSetText or RdbType.SortedSet => TryScores(ref from, type, to),
        RdbType.HashTimes => TryTimes(ref from, to),
        RdbType.HashTimesListPack => TryPackedTimes(ref from, to),
        RdbType.QuickList or RdbType.QuickList2 => TryNodes(ref from, type, to),
        RdbType.ListZipList => TryBlob<ZipList>(ref from, to),
        RdbType.IntegerSet => TryBlob<IntSet>(ref from, to),
        RdbType.SetListPack => TryBlob<ListPack>(ref from, to),
        RdbType.ZipMap => TryBlob<ZipMap>(ref from, to),
        RdbType.HashZipList => TryBlob<ZipList>(ref from, to) && to.Count % 2 == 0,
        RdbType.HashListPack => TryBlob<ListPack>(ref from, to) && to.Count % 2 == 0,
        RdbType.SortedSetZipList => TryPackedScores<ZipList>(ref from, to),
        RdbType.SortedSetListPack => TryPackedScores<ListPack>(ref from, to),
        _ => false,
    };

    private static bool TryStrings(ref RdbCursor from, int each, RdbValue to)
    {
        if (!from.TryCount(each, out long count))
            return false;
        for (long left = count * each; left > 0; left--)
        {
            if (!from.TryString(out Arg text))
                return false;
            to.Add(text);
        }

        return true;
    }

    private static bool TryScores(ref RdbCursor from, RdbType type, RdbValue to)
    {
        if (!from.TryCount(2, out long count))
            return false;
        for (; count > 0; count--)
        {
            if (!from.TryString(out Arg member))
                return false;
            double score;
            if (!(type == RdbType.SortedSet ? from.TryDouble(out score) : TryScoreText(ref from, out score)) || double.IsNaN(score))
                return false;
            to.Add(score);
            to.Add(member);
        }

        return true;
    }

    // A length byte and text, or a byte alone for what is no number.
    private static bool TryScoreText(ref RdbCursor from, out double score)
    {
        score = 0;
        if (!from.TryByte(out byte length))
            return false;
        switch (length)
        {
            case 253:
                score = double.NaN;
                return true;
            case 254:
                score = double.PositiveInfinity;
                return true;
            case 255:
                score = double.NegativeInfinity;
                return true;
            default:
                return from.TryBytes(length, out byte* text)
                    && double.TryParse(new ReadOnlySpan<byte>(text, length), NumberStyles.Float, CultureInfo.InvariantCulture, out score);
        }
    }

    private static bool TryTimes(ref RdbCursor from, RdbValue to)
    {
        if (!from.TryInt64(out long first) || first < 0 || !from.TryCount(3, out long count))
            return false;
        to.FieldTimes = [];
        for (; count > 0; count--)
        {
            if (!from.TryLength(out ulong behind) || behind > (ulong)(long.MaxValue - first) || !from.TryString(out Arg field))
                return false;
            to.FieldTimes.Add(behind == 0 ? 0 : first + (long)behind - 1);
            to.Add(field);
            if (!from.TryString(out Arg value))
                return false;
            to.Add(value);
        }

        return true;
    }

    private static bool TryPackedTimes(ref RdbCursor from, RdbValue to)
    {
        var pack = default(ListPack);
        if (!from.TryInt64(out _) || !TryOpen(ref from, ref pack))
            return false;
        to.FieldTimes = [];
        while (pack.Next(out Arg field))
        {
            to.Add(field);
            if (!pack.Next(out Arg value))
                return false;
            to.Add(value);
            if (!pack.Next(out Arg time) || !NumberText.TryInt64(time.Span, out long ms) || ms < 0)
                return false;
            to.FieldTimes.Add(ms);
        }

        return pack.IsSound;
    }

    private static bool TryNodes(ref RdbCursor from, RdbType type, RdbValue to)
    {
        if (!from.TryCount(1, out long nodes))
            return false;
        for (; nodes > 0; nodes--)
        {
            ulong form = NodePacked;
            if (type == RdbType.QuickList2 && (!from.TryLength(out form) || form is not (NodePlain or NodePacked)))
                return false;
            if (form == NodePlain)
            {
                if (!from.TryString(out Arg text))
                    return false;
                to.Add(text);
            }
            else if (!(type == RdbType.QuickList2 ? TryBlob<ListPack>(ref from, to) : TryBlob<ZipList>(ref from, to)))
            {
                return false;
            }
        }

        return true;
    }

    private static bool TryBlob<T>(ref RdbCursor from, RdbValue to)
        where T : struct, IPacked
    {
        var packed = default(T);
        if (!TryOpen(ref from, ref packed))
            return false;
        while (packed.Next(out Arg text))
            to.Add(text);
        return packed.IsSound;
    }

    private static bool TryPackedScores<T>(ref RdbCursor from, RdbValue to)
        where T : struct, IPacked
    {
        var packed = default(T);
        if (!TryOpen(ref from, ref packed))
            return false;
        while (packed.Next(out Arg member))
        {
            if (!packed.Next(out Arg text) || !NumberText.TryDouble(text.Span, out double score))
                return false;
            to.Add(score);
            to.Add(member);
        }

        return packed.IsSound;
    }

    private static bool TryOpen<T>(ref RdbCursor from, ref T packed)
        where T : struct, IPacked => from.TryString(out Arg blob) && packed.TryOpen(blob.Bytes, blob.Length);
}
