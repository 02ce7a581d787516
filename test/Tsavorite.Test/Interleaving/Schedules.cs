namespace Tsavorite.Test.Interleaving;

/// <summary>
/// Runs bodies over something small in many interleavings, each time over a fresh one: all with at most two preemptions if there are two
/// bodies, and as many as are drawn at random. The first that shows what it should not, or null.
/// </summary>
internal static class Schedules
{
    private const int RandomRuns = 3000;

    /// <param name="scene">Makes what the bodies work on: them, and what was wrong when all are through (null for nothing).</param>
    /// <param name="seed">Of those that are drawn.</param>
    public static string? Explore(Func<(Action[] Bodies, Func<string?> Judge, IDisposable Stage)> scene, int seed)
    {
        int threads = CountOf(scene);
        using Cooperation cooperation = new(threads);
        return (threads == 2 ? ExploreAll(scene, cooperation) : null) ?? ExploreRandomly(scene, cooperation, threads, seed);
    }

    private static string? ExploreAll(Func<(Action[], Func<string?>, IDisposable)> scene, Cooperation cooperation)
    {
        for (int first = 0; first < 2; first++)
        {
            for (int early = 1; ; early++)
            {
                if (Run(scene, cooperation, first, (step, running) => step == early ? 1 - running : running) is { } wrong) return $"first {first}, preempted at {early}: {wrong}";
                int steps = cooperation.Steps;
                for (int late = early + 1; late <= steps; late++)
                {
                    int second = late;
                    if (Run(scene, cooperation, first, (step, running) => step == early || step == second ? 1 - running : running) is { } twice)
                        return $"first {first}, preempted at {early} and {late}: {twice}";
                }
                if (early > steps) break;
            }
        }
        return null;
    }

    private static string? ExploreRandomly(Func<(Action[], Func<string?>, IDisposable)> scene, Cooperation cooperation, int threads, int seed)
    {
        for (int i = 0; i < RandomRuns; i++)
        {
            Random random = new(seed + i);
            if (Run(scene, cooperation, random.Next(threads), (_, running) => random.Next(3) == 0 ? random.Next(threads) : running) is { } wrong) return $"seed {seed + i}: {wrong}";
        }
        return null;
    }

    private static string? Run(Func<(Action[] Bodies, Func<string?> Judge, IDisposable Stage)> scene, Cooperation cooperation, int first, Func<int, int, int> choose)
    {
        (Action[] bodies, Func<string?> judge, IDisposable stage) = scene();
        using (stage)
        {
            try
            {
                cooperation.Run(bodies, first, choose);
            }
            catch (InvalidOperationException failure)
            {
                return failure.Message;
            }
            return judge();
        }
    }

    private static int CountOf(Func<(Action[] Bodies, Func<string?> Judge, IDisposable Stage)> scene)
    {
        (Action[] bodies, _, IDisposable stage) = scene();
        using (stage) return bodies.Length;
    }
}
