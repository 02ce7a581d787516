using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.SortedSets;
using Garnet.Types.Collections;
using Garnet.Types.Geo;
using Tsavorite;

namespace Garnet.Server.Families.Geo;

/// <summary>GEOSEARCH, GEORADIUS and their relatives.</summary>
internal static class GeoSearchCommands
{
    private const string Options = "[WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]";

    internal static CommandSpec Radius(string name, int arity, string from, bool stores, string summary) =>
        GeoCommands.Spec(name, arity, stores ? CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.MovableKeys : CommandFlags.ReadOnly,
            "RO ACCESS", $"key {from} radius <M | KM | FT | MI> {Options}{(stores ? " [STORE key | STOREDIST key]" : "")}", summary) with
        {
            Complexity = "O(N+log(M))",
            Keys = KeySpec.One with { Usage = "RO ACCESS", StoreFrom = stores ? -arity : 0, StoresDistances = stores },
            Event = stores ? new KeyEvent("georadiusstore", NotifyClasses.SortedSet) { Replaces = true } : null,
        };

    /// <summary>Runs a search around a point or a member (arguments 2 and on), or one whose options say everything.</summary>
    internal static Reply Run(ref Call call, GeoForm form, int sourceAt, int pointArgs)
    {
        var query = new GeoQuery(form);
        KeyRef source = call.KeyAt(sourceAt);
        var kind = default(CountLook);
        bool exists = call.Session.Examine(in source, ref kind) == Outcome.Done;
        if (exists && kind.Kind != RecordKind.SortedSet)
            return call.Fail(Fault.WrongType);
        int options = sourceAt + 1;
        Reply failed = Reply.Sent;
        if (pointArgs > 0)
        {
            bool isPlaced = pointArgs == 2
                ? GeoText.TryPoint(ref call, 2, out query.Shape.Centre, out failed)
                : query.TryMember(ref call, 2, source, exists, out failed);
            // without a set and its member the radius is not looked at
            bool isSized = isPlaced && ((!exists && pointArgs == 1) || query.TryRadius(ref call, 2 + pointArgs, out failed));
            if (!isSized)
                return failed;
            options = 4 + pointArgs;
        }

        if (!query.TryParse(ref call, options, source, exists, out failed))
            return failed;
        int storeAt = form == GeoForm.SearchStore ? 1 : query.StoreAt;
        return storeAt > 0 ? Store(ref call, in source, call.KeyAt(storeAt), query) : Show(ref call, in source, query);
    }

    private static List<GeoMatch> Find(StoreSession store, in KeyRef source, scoped in GeoQuery query)
    {
        var look = new GeoLook(query.Shape, query.Limit);
        store.Examine(in source, ref look, quiet: true);
        IEnumerable<GeoMatch> matches = look.Matches;
        if (query.Ascending is { } ascending)
            matches = ascending
                ? matches.OrderBy(static match => match.Distance)
                : matches.OrderByDescending(static match => match.Distance);
        return [.. query.Count > 0 ? matches.Take((int)Math.Min(query.Count, int.MaxValue)) : matches];
    }

    private static Reply Show(ref Call call, in KeyRef source, scoped in GeoQuery query)
    {
        List<GeoMatch> matches = Find(call.Session, in source, query);
        RespWriter to = call.Out;
        int parts = 1 + (query.WithDistance ? 1 : 0) + (query.WithHash ? 1 : 0) + (query.WithPoint ? 1 : 0);
        to.Array(matches.Count);
        foreach (GeoMatch match in matches)
        {
            if (parts > 1)
                to.Array(parts);
            to.Bulk(match.Member);
            if (query.WithDistance)
                GeoText.Distance(to, match.Distance / query.Shape.Metres);
            if (query.WithHash)
                to.Int((long)match.Score);
            if (query.WithPoint)
                GeoText.Point(to, match.Point);
        }

        return Reply.Sent;
    }

    private static unsafe Reply Store(ref Call call, in KeyRef source, KeyRef target, scoped in GeoQuery query)
    {
        call.Session.Room.Ensure(0);
        call.Session.Lock([source, target]);
        List<GeoMatch> matches = Find(call.Session, in source, query);
        var found = default(ByteQueue);
        try
        {
            foreach (GeoMatch match in matches)
            {
                double score = query.StoresDistance ? match.Distance / query.Shape.Metres : match.Score;
                OperandText.Append(ref found, new ReadOnlySpan<byte>(&score, sizeof(double)), match.Member);
            }

            Outcome outcome = ScoreAlgebraCommands.Keep(ref call, in target, OperandText.Read(found));
            call.Session.Unlock();
            return outcome == Outcome.Done ? call.Int(matches.Count) : call.From(outcome);
        }
        finally
        {
            found.Free(); // common.Q1
        }
    }
}

internal readonly struct GeoSearch : ICommand
{
    public static CommandSpec Spec => GeoCommands.Spec("GEOSEARCH", -7, CommandFlags.ReadOnly, "RO ACCESS", "key [FROMMEMBER member | FROMLONLAT longitude latitude] <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI> | BYPOLYGON num-vertices longitude latitude [longitude latitude ...]> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]", "Finds the members within a circle, a box or a polygon.") with { Since = "6.2.0", Complexity = "O(N+log(M))" };

    public static Reply Run(ref Call call) => GeoSearchCommands.Run(ref call, GeoForm.Search, 1, 0);
}

internal readonly struct GeoSearchStore : ICommand
{
    public static CommandSpec Spec => GeoCommands.Spec("GEOSEARCHSTORE", -8, CommandFlags.Write | CommandFlags.DenyOom, "", "destination source [FROMMEMBER member | FROMLONLAT longitude latitude] <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI> | BYPOLYGON num-vertices longitude latitude [longitude latitude ...]> [ASC | DESC] [COUNT count [ANY]] [STOREDIST]", "Stores the members within a circle, a box or a polygon.") with { Since = "6.2.0", Complexity = "O(N+log(M))", Keys = KeySpec.Two with { Usage = "OW UPDATE", RestUsage = "RO ACCESS" }, Event = new KeyEvent("geosearchstore", NotifyClasses.SortedSet) { Replaces = true } };

    public static Reply Run(ref Call call) => GeoSearchCommands.Run(ref call, GeoForm.SearchStore, 2, 0);
}

internal readonly struct GeoRadius : ICommand
{
    public static CommandSpec Spec => GeoSearchCommands.Radius("GEORADIUS", -6, "longitude latitude", stores: true, "Finds, and perhaps stores, the members within a circle.");

    public static Reply Run(ref Call call) => GeoSearchCommands.Run(ref call, GeoForm.Radius, 1, 2);
}

internal readonly struct GeoRadiusRo : ICommand
{
    public static CommandSpec Spec => GeoSearchCommands.Radius("GEORADIUS_RO", -6, "longitude latitude", stores: false, "Finds the members within a circle.") with { Since = "3.2.10" };

    public static Reply Run(ref Call call) => GeoSearchCommands.Run(ref call, GeoForm.RadiusRo, 1, 2);
}

internal readonly struct GeoRadiusByMember : ICommand
{
    public static CommandSpec Spec => GeoSearchCommands.Radius("GEORADIUSBYMEMBER", -5, "member", stores: true, "Finds, and perhaps stores, the members within a circle around one.");

    public static Reply Run(ref Call call) => GeoSearchCommands.Run(ref call, GeoForm.Radius, 1, 1);
}

internal readonly struct GeoRadiusByMemberRo : ICommand
{
    public static CommandSpec Spec => GeoSearchCommands.Radius("GEORADIUSBYMEMBER_RO", -5, "member", stores: false, "Finds the members within a circle around one.") with { Since = "3.2.10" };

    public static Reply Run(ref Call call) => GeoSearchCommands.Run(ref call, GeoForm.RadiusRo, 1, 1);
}
