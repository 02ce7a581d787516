using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.SortedSets;
using Garnet.Types.Geo;
using Tsavorite;

namespace Garnet.Server.Families.Geo;

/// <summary>Which command a search is, and so which of its options.</summary>
internal enum GeoForm : byte
{
    Search,
    SearchStore,
    Radius,
    RadiusRo,
}

/// <summary>The options of the searches, read in Redis's order, so that the first mistake is the same.</summary>
internal ref struct GeoQuery(GeoForm form)
{
    internal GeoShape Shape;
    internal bool WithDistance;
    internal bool WithHash;
    internal bool WithPoint;
    internal bool Any;
    internal long Count;
    /// <summary>Nearest first, farthest first, or as found.</summary>
    internal bool? Ascending;
    internal bool StoresDistance;
    /// <summary>The argument that names the key to store in, 0 for none.</summary>
    internal int StoreAt;
    private bool _from;
    private bool _by;

    private readonly bool IsSearch => form is GeoForm.Search or GeoForm.SearchStore;

    /// <summary>Most members to look for, 0 for all.</summary>
    internal readonly long Limit => Any ? Count : 0;

    /// <summary>Reads the options; on false the error has been written.</summary>
    internal bool TryParse(ref Call call, int first, KeyRef source, bool exists, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = first; i < call.Count; i++)
        {
            if (TryWord(ref call, i))
                continue;
            int used = Take(ref call, i, call.Count - i - 1, source, exists, out failed);
            if (failed != Reply.Sent)
                return false;
            i += used;
        }

        return TryAgree(ref call, out failed);
    }

    /// <summary>Reads a radius and its unit.</summary>
    internal bool TryRadius(ref Call call, int index, out Reply failed)
    {
        failed = Reply.Failed;
        if (!NumberText.TryDouble(call[index], out Shape.Radius))
            call.FailBytes("ERR need numeric radius"u8);
        else if (Shape.Radius < 0)
            call.FailBytes("ERR radius cannot be negative"u8);
        else if (GeoText.TryUnit(ref call, index + 1, out Shape.Metres))
            failed = Reply.Sent;
        return failed == Reply.Sent;
    }

    /// <summary>Makes a member's place the centre; nothing without a sorted set.</summary>
    internal unsafe bool TryMember(ref Call call, int index, KeyRef source, bool exists, out Reply failed)
    {
        failed = Reply.Sent;
        if (!exists)
            return true;
        var look = new RankLook { Member = call.Args[index], ScoreOnly = true };
        call.Session.Examine(in source, ref look, quiet: true);
        if (look.Found)
            Shape.Centre = GeoHash.PointOf(look.Score);
        else
            failed = call.FailBytes("ERR could not decode requested zset member"u8);
        return look.Found;
    }

    private bool TryWord(ref Call call, int index)
    {
        if (call.Is(index, "WITHDIST"u8))
            return WithDistance = true;
        if (call.Is(index, "WITHHASH"u8))
            return WithHash = true;
        if (call.Is(index, "WITHCOORD"u8))
            return WithPoint = true;
        if (call.Is(index, "ANY"u8))
            return Any = true;
        bool ascending = call.Is(index, "ASC"u8);
        if (ascending || call.Is(index, "DESC"u8))
        {
            Ascending = ascending;
            return true;
        }

        return form == GeoForm.SearchStore && call.Is(index, "STOREDIST"u8) && (StoresDistance = true);
    }

    // Takes an option with arguments; returns how many.
    private int Take(ref Call call, int i, int left, KeyRef source, bool exists, out Reply failed)
    {
        failed = Reply.Sent;
        if (left >= 1 && call.Is(i, "COUNT"u8))
        {
            if (!call.TryInt64(i + 1, out Count))
                failed = call.Fail(Fault.NotAnInteger);
            else if (Count <= 0)
                failed = call.Fail(Fault.CountNotPositive);
            return 1;
        }

        if (left >= 1 && form == GeoForm.Radius && (call.Is(i, "STORE"u8) || call.Is(i, "STOREDIST"u8)))
        {
            StoreAt = i + 1;
            StoresDistance = call.Is(i, "STOREDIST"u8);
            return 1;
        }

        if (IsSearch && !_by && !_from && left >= 1 && call.Is(i, "BYPOLYGON"u8))
            return TakePolygon(ref call, i + 1, left - 1, out failed);
        bool fromMember = IsSearch && !_from && left >= 1 && call.Is(i, "FROMMEMBER"u8);
        bool fromPoint = IsSearch && !_from && left >= 2 && call.Is(i, "FROMLONLAT"u8);
        _from |= fromMember | fromPoint;
        if ((fromMember || fromPoint) && Shape.Polygon is not null)
        {
            failed = call.Fail(Fault.Syntax);
            return 0;
        }

        if (fromMember)
        {
            TryMember(ref call, i + 1, source, exists, out failed);
            return 1;
        }

        if (fromPoint)
        {
            GeoText.TryPoint(ref call, i + 1, out Shape.Centre, out failed);
            return 2;
        }

        bool byRadius = IsSearch && !_by && left >= 2 && call.Is(i, "BYRADIUS"u8);
        Shape.IsBox |= IsSearch && !_by && left >= 3 && call.Is(i, "BYBOX"u8);
        if (!byRadius && (_by || !Shape.IsBox))
        {
            failed = call.Fail(Fault.Syntax);
            return 0;
        }

        _by = true;
        if (byRadius)
            TryRadius(ref call, i + 1, out failed);
        else
            TryBox(ref call, i + 1, out failed);
        return byRadius ? 2 : 3;
    }

    // A polygon has its own middle and needs no place to be around.
    private int TakePolygon(ref Call call, int countAt, int left, out Reply failed)
    {
        failed = Reply.Sent;
        if (!call.TryInt64(countAt, out long corners))
            failed = call.Fail(Fault.NotAnInteger);
        else if (corners < GeoPolygon.CornersMin)
            failed = call.FailBytes("ERR GEOSEARCH BYPOLYGON must have at least 3 vertices"u8);
        else if (corners > left / 2)
            failed = call.Fail(Fault.Syntax);
        if (failed != Reply.Sent)
            return 0;
        var points = new GeoPoint[corners];
        for (int i = 0; i < points.Length; i++)
        {
            if (!GeoText.TryPoint(ref call, countAt + 1 + (i * 2), out points[i], out failed))
                return 0;
        }

        _by = true;
        Shape.Polygon = new GeoPolygon(points);
        Shape.Metres = 1;
        return 1 + (points.Length * 2);
    }

    private void TryBox(ref Call call, int index, out Reply failed)
    {
        failed = Reply.Failed;
        if (!NumberText.TryDouble(call[index], out Shape.Width))
            call.FailBytes("ERR need numeric width"u8);
        else if (!NumberText.TryDouble(call[index + 1], out Shape.Height))
            call.FailBytes("ERR need numeric height"u8);
        else if (Shape.Width < 0 || Shape.Height < 0)
            call.FailBytes("ERR height or width cannot be negative"u8);
        else if (GeoText.TryUnit(ref call, index + 2, out Shape.Metres))
            failed = Reply.Sent;
    }

    private bool TryAgree(ref Call call, out Reply failed)
    {
        failed = Reply.Sent;
        bool stores = StoreAt > 0 || form == GeoForm.SearchStore;
        string name = System.Text.Encoding.Latin1.GetString(call.Shown(0));
        if (stores && (WithDistance || WithHash || WithPoint))
            failed = call.FailText($"ERR {(IsSearch ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS")} is not compatible with " +
                "WITHDIST, WITHHASH and WITHCOORD options");
        else if (IsSearch && !_from && Shape.Polygon is null)
            failed = call.FailText($"ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for {name}");
        else if (IsSearch && !_by)
            failed = call.FailText($"ERR exactly one of BYRADIUS and BYBOX can be specified for {name}");
        else if (Any && Count == 0)
            failed = call.FailBytes("ERR the ANY argument requires COUNT argument"u8);
        if (Count > 0 && !Any)
            Ascending ??= true;
        return failed == Reply.Sent;
    }
}
