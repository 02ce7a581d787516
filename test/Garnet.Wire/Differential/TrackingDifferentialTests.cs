using System.Globalization;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Differential;

/// <summary>Client-side caching, random commands of several clients at both servers: the same replies, the same keys told to the same clients, the same figures.</summary>
[Parallelizable] // its servers are its own
internal sealed class TrackingDifferentialTests
{
    private const int Seeds = 6, SeedsInCi = 40, Steps = 400, FiguresEvery = 10, DifferencesMax = 5, StoryLength = 60, IdsApart = 1000;

    private ServerPair _pair = null!;

    [OneTimeSetUp]
    public void Start()
    {
        _pair = new ServerPair();
        // Ids of clients are above what commands reply.
        foreach (ServerSide side in (ServerSide[])[ServerSide.Ours, ServerSide.Redis])
            for (int i = 0; i < IdsApart; i++) new RespConnection(_pair.Of(side).Address).Dispose();
    }

    [OneTimeTearDown]
    public void Stop() => _pair?.Dispose();

    [Test]
    public void Random_commands_of_clients_that_track_tell_the_same_keys()
    {
        int first = int.TryParse(Environment.GetEnvironmentVariable("GARNET_WIRE_SEED"), CultureInfo.InvariantCulture, out int wanted) ? wanted : 20_260_101;
        List<string> differences = [];
        for (int seed = first; seed < first + (LongRun.IsWanted ? SeedsInCi : Seeds) && differences.Count < DifferencesMax; seed++)
            if (Differ(seed) is { } difference) differences.Add($"GARNET_WIRE_SEED={seed}\n{difference}");
        Assert.That(differences, Is.Empty, string.Join("\n", differences));
    }

    private string? Differ(int seed)
    {
        using TrackingSide reference = new(_pair.Redis.Address), ours = new(_pair.Ours.Address);
        TrackingStream stream = new(seed);
        HashSet<int> targets = [];
        List<string> story = [];
        for (int step = 0; step < Steps; step++)
        {
            (int client, string[] words) = stream.Next();
            if (IsUnsettled(client, words, reference, targets)) continue;
            story.Add($"{client}: {string.Join(' ', words.Select(Quoted.Quote))}");
            foreach (string word in words.Where(static word => word.Length == 2 && word[0] == TrackingStream.IdMark)) targets.Add(word[1] - '0');
            List<TrackingSide.Got> wanted = reference.Run(client, words), got = ours.Run(client, words);
            string figuresWanted = "", figures = "";
            if (step % FiguresEvery == 0) (figuresWanted, figures) = (reference.Figures(), ours.Figures());
            if (Show(wanted, targets) == Show(got, targets) && figuresWanted == figures) continue;
            return $"  reference {Show(wanted, targets)} {figuresWanted}\n  ours      {Show(got, targets)} {figures}\n  after:\n    {string.Join("\n    ", story.TakeLast(StoryLength))}";
        }
        return null;
    }

    // In a transaction Redis sends what is told for another client into the reply, and what is told to the own one by what holds at its end: who
    // tracks in which way does not change in one here, and who is told for others has none.
    private static bool IsUnsettled(int client, string[] words, TrackingSide side, HashSet<int> targets)
    {
        if (words.FirstOrDefault(static word => word.Length == 2 && word[0] == TrackingStream.IdMark) is { } target && side.IsInTransaction(target[1] - '0')) return true;
        if (words[0] == "MULTI") return targets.Contains(client);
        return side.IsInTransaction(client) && (words[0] is "HELLO" or "SUBSCRIBE" or "UNSUBSCRIBE" or "RESET" || words is ["CLIENT", "TRACKING", ..]);
    }

    // Who is told for another may be so in the middle of its own command by Redis, before the reply: here it is told behind it.
    private static string Show(List<TrackingSide.Got> got, HashSet<int> targets) =>
        string.Join("; ", got.Select(one => targets.Contains(one.Client) ? $"{one.Client}: {one.Replies} # {one.Told}" : $"{one.Client}: {one.All}"));
}
