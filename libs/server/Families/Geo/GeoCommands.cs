using System.Globalization;
using System.Text;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Server.Families.SortedSets;
using Garnet.Types.Collections;
using Garnet.Types.Geo;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.Geo;

/// <summary>Places as members of a sorted set: GEOADD, GEOPOS, GEODIST, GEOHASH. Searches are in files of their own.</summary>
internal static class GeoCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<GeoAdd>();
        table.Add<GeoPos>();
        table.Add<GeoDist>();
        table.Add<GeoHashes>();
        table.Add<GeoSearch>();
        table.Add<GeoSearchStore>();
        table.Add<GeoRadius>();
        table.Add<GeoRadiusRo>();
        table.Add<GeoRadiusByMember>();
        table.Add<GeoRadiusByMemberRo>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage })
            { Group = "geo", Syntax = syntax, Summary = summary, Since = "3.2.0", Complexity = "O(log(N))" };

    /// <summary>Finds the scores of members under the call's key, NaN for those not there; false if it holds something else.</summary>
    internal static unsafe bool TryScores(ref Call call, int first, scoped Span<double> scores)
    {
        scores.Fill(double.NaN);
        fixed (double* found = scores)
        {
            var look = new PlacesLook(found, new Operands(call.Args + first, scores.Length));
            CollectionCalls.Examine(ref call, ref look, quiet: scores.Length == 0);
            return !look.WrongKind;
        }
    }

    private unsafe struct PlacesLook(double* scores, Operands members) : IExamine
    {
        internal bool WrongKind;

        public void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.SortedSet;
            if (WrongKind)
                return;
            MembersAhead.Look(ref record, members);
            int i = 0;
            for (Operands.Reader reader = members.Read(); reader.Next(); i++)
                scores[i] = SortedForm.Find(ref record, reader.Bytes, reader.Length, out double score) ? score : double.NaN;
        }
    }
}

internal readonly struct GeoAdd : ICommand
{
    public static CommandSpec Spec => GeoCommands.Spec("GEOADD", -5, CommandFlags.Write | CommandFlags.DenyOom, "RW UPDATE", "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]", "Adds places to a sorted set, or moves them.") with { Event = new("zadd", NotifyClasses.SortedSet) };

    public static Reply Run(ref Call call)
    {
        PutScore options = PutScore.None;
        bool countsChanges = false;
        int first = 2;
        for (; first < call.Count; first++)
        {
            if (call.Is(first, "NX"u8))
                options |= PutScore.IfAbsent;
            else if (call.Is(first, "XX"u8))
                options |= PutScore.IfPresent;
            else if (call.Is(first, "CH"u8))
                countsChanges = true;
            else
                break;
        }

        if ((call.Count - first) % 3 != 0
            || (options & (PutScore.IfAbsent | PutScore.IfPresent)) == (PutScore.IfAbsent | PutScore.IfPresent))
            return call.Fail(Fault.Syntax);
        var pairs = default(ByteQueue);
        try
        {
            for (int i = first; i < call.Count; i += 3)
            {
                if (!GeoText.TryPoint(ref call, i, out GeoPoint point, out Reply failed))
                    return failed;
                OperandText.Append(ref pairs,
                    Encoding.ASCII.GetBytes(GeoHash.Of(point, GeoHash.StepsMax).Bits.ToString(CultureInfo.InvariantCulture)));
                OperandText.Append(ref pairs, call[i + 2]);
            }

            return Put(ref call, in pairs, options, countsChanges);
        }
        finally
        {
            pairs.Free(); // common.Q1
        }
    }

    private static unsafe Reply Put(ref Call call, in ByteQueue pairs, PutScore options, bool countsChanges)
    {
        if (pairs.Count == 0)
            return call.Fail(Fault.Syntax);
        Operands scored = OperandText.Read(pairs);
        var put = new SortedSetPut { Pairs = scored, Options = options, Limits = SortedSetCommands.Limits(ref call) };
        return SortedSetCommands.TryPut(ref call, ref put, out Reply failed)
            ? call.Int(put.Added + (countsChanges ? put.Updated : 0))
            : failed;
    }
}

internal readonly struct GeoPos : ICommand
{
    public static CommandSpec Spec => GeoCommands.Spec("GEOPOS", -2, CommandFlags.ReadOnly, "RO ACCESS", "key [member [member ...]]", "Returns longitude and latitude of members.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        var scores = new double[call.Count - 2];
        if (!GeoCommands.TryScores(ref call, 2, scores))
            return call.Fail(Fault.WrongType);
        call.Out.Array(scores.Length);
        foreach (double score in scores)
        {
            if (double.IsNaN(score))
                call.Out.NullArray();
            else
                GeoText.Point(call.Out, GeoHash.PointOf(score));
        }

        return Reply.Sent;
    }
}

internal readonly struct GeoHashes : ICommand
{
    public static CommandSpec Spec => GeoCommands.Spec("GEOHASH", -2, CommandFlags.ReadOnly, "RO ACCESS", "key [member [member ...]]", "Returns the geohashes of members.") with { Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        var scores = new double[call.Count - 2];
        if (!GeoCommands.TryScores(ref call, 2, scores))
            return call.Fail(Fault.WrongType);
        call.Out.Array(scores.Length);
        foreach (double score in scores)
        {
            if (double.IsNaN(score))
                call.Out.Null();
            else
                call.Out.Bulk(GeoText.Hash(GeoHash.PointOf(score)));
        }

        return Reply.Sent;
    }
}

internal readonly struct GeoDist : ICommand
{
    public static CommandSpec Spec => GeoCommands.Spec("GEODIST", -4, CommandFlags.ReadOnly, "RO ACCESS", "key member1 member2 [M | KM | FT | MI]", "Returns the distance between two members.");

    public static Reply Run(ref Call call)
    {
        double metres = 1;
        if (call.Count > 5)
            return call.Fail(Fault.Syntax);
        if (call.Count == 5 && !GeoText.TryUnit(ref call, 4, out metres))
            return Reply.Failed;
        Span<double> scores = stackalloc double[2];
        if (!GeoCommands.TryScores(ref call, 2, scores))
            return call.Fail(Fault.WrongType);
        if (double.IsNaN(scores[0]) || double.IsNaN(scores[1]))
            return call.Null();
        GeoText.Distance(call.Out, GeoHash.PointOf(scores[0]).DistanceTo(GeoHash.PointOf(scores[1])) / metres);
        return Reply.Sent;
    }
}
