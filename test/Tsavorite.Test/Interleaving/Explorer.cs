namespace Tsavorite.Test.Interleaving;

/// <summary>
/// Runs acts in many interleavings. What each act saw and what is left must be what some order of whole acts gives.
/// </summary>
internal sealed class Explorer : IDisposable
{
    private readonly StageKind _kind;
    private readonly Act[] _acts;
    private readonly Cooperation _cooperation;
    private readonly HashSet<string> _allowed = [];

    public Explorer(StageKind kind, params string[] acts)
    {
        _kind = kind;
        _acts = acts.Select(static name => Acts.All.GetValueOrDefault(name) ?? TierActs.Of(name)).ToArray();
        foreach (int[] order in Orders(acts.Length)) _allowed.Add(Whole(order));
        _cooperation = new Cooperation(acts.Length);
    }

    /// <summary>Interleavings run.</summary>
    public int Runs { get; private set; }

    /// <summary>
    /// All schedules of two threads with at most two preemptions; the first one that shows something no order of
    /// whole acts shows, or null. Of the second preemptions only every <paramref name="stride"/>th is tried.
    /// </summary>
    public string? ExploreAll(int stride = 1)
    {
        for (int first = 0; first < 2; first++)
        {
            for (int early = 1; ; early++)
            {
                if (Run($"first {first}, preempted at {early}", first, early, int.MaxValue) is { } wrong) return wrong;
                int steps = _cooperation.Steps;
                for (int late = early + 1 + (early % stride); late <= steps; late += stride)
                {
                    string where = $"first {first}, preempted at {early} and {late}";
                    if (Run(where, first, early, late) is { } second) return second;
                }
                if (early > steps) break;
            }
        }
        return null;
    }

    /// <summary>Schedules drawn at random, each from its own seed; the first wrong one, or null.</summary>
    public string? ExploreRandomly(int seed, int runs)
    {
        for (int i = 0; i < runs; i++)
        {
            Random random = new(seed + i);
            int threads = _acts.Length;
            int Choose(int step, int running) => random.Next(3) == 0 ? random.Next(threads) : running;
            string? wrong = Run($"seed {seed + i}", random.Next(threads), Choose);
            if (wrong != null) return wrong;
        }
        return null;
    }

    public void Dispose() => _cooperation.Dispose();

    private string? Run(string where, int first, int early, int late) =>
        Run(where, first, (step, running) => step == early || step == late ? 1 - running : running);

    private string? Run(string where, int first, Func<int, int, int> choose)
    {
        Runs++;
        using Stage stage = new(_acts.Length, _kind);
        string[] seen = new string[_acts.Length];
        Action[] bodies = _acts.Select((act, i) => (Action)(() => seen[i] = act(stage, i))).ToArray();
        try
        {
            _cooperation.Run(bodies, first, choose);
        }
        catch (InvalidOperationException failure)
        {
            return $"{where}: {failure.Message}";
        }
        string outcome = string.Join(" | ", seen.Append(stage.Outcome()));
        return _allowed.Contains(outcome) ? null : $"{where}: {outcome}\nallowed:\n{string.Join('\n', _allowed)}";
    }

    private string Whole(int[] order)
    {
        using Stage stage = new(_acts.Length, _kind);
        string[] seen = new string[_acts.Length];
        foreach (int i in order) seen[i] = _acts[i](stage, i);
        return string.Join(" | ", seen.Append(stage.Outcome()));
    }

    private static IEnumerable<int[]> Orders(int count)
    {
        if (count == 1)
        {
            yield return [0];
            yield break;
        }
        foreach (int[] rest in Orders(count - 1))
        {
            for (int at = 0; at <= rest.Length; at++) yield return [.. rest[..at], count - 1, .. rest[at..]];
        }
    }
}
