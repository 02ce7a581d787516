using Garnet.Load.Compare.Bulk;
using Garnet.Load.Compare.Movers;
using Garnet.Load.Compare.Pm;
using Garnet.Load.Compare.Replicas;
using Garnet.Load.Compare.Tiers;
using Garnet.Load.Machine;

namespace Garnet.Load.Compare;

/// <summary>The verb <c>compare</c>: chooses the systems and the set, prints the tables and keeps them.</summary>
internal static class CompareVerb
{
    public static int Run(CompareOptions options)
    {
        Dial.RaiseDescriptorLimit();
        Report report = new();
        List<Peer> peers = Choose(options, report);
        if (peers.Count == 0) return 2;
        report.Opening(options, peers);
        switch (options.Set)
        {
            case "smoke":
                Rounds.Run(options, peers, Cell.Smoke(), report);
                break;
            case "collections":
                Rounds.Run(options, peers, Cell.Collections(), report);
                break;
            case "commands":
                Rounds.Run(options, peers, Cell.Commands(), report);
                break;
            case "big":
                Rounds.Run(options, peers, Cell.Big(options.BigKeys), report);
                break;
            case "durable":
                Rounds.Run(options, peers, Cell.Durable(), report);
                break;
            case "always":
                Rounds.Run(options, peers, Cell.Waiting(), report);
                break;
            case "pm":
                PmSet.Run(options, peers, report);
                break;
            case "recover":
                Recoveries.Run(options, peers, report);
                break;
            case "snapshot":
                SnapshotLoads.Run(options, peers, report);
                break;
            case "replica":
                ReplicaSet.Run(options, peers, report);
                break;
            case "tiers":
                TierSet.Run(options, report);
                break;
            case "bulk":
                BulkSet.Run(options, peers, report);
                break;
            case "movers":
                MoverSet.Run(options, report);
                break;
            case "start":
                Starts.Run(options, peers, report);
                break;
            case "idle":
                IdleConnections.Run(options, peers, report);
                break;
            default:
                throw new ArgumentException($"no set is named {options.Set}");
        }
        if (options.Results.Length > 0) report.AppendTo(options.Results);
        return 0;
    }

    private static List<Peer> Choose(CompareOptions options, Report report)
    {
        List<Peer> peers = [];
        foreach (string name in options.Systems.Split(','))
        {
            Peer? peer = Peer.Find(name.Trim(), options);
            if (peer is null) report.Line($"Left out: {name}, its program is not there.");
            else peers.Add(peer);
        }
        return peers;
    }
}
