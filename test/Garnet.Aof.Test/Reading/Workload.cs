namespace Garnet.Aof.Test.Reading;

/// <summary>A script of batches, writes and syncs, the same for the same seed, with the state after each batch.</summary>
internal sealed class Workload
{
    private readonly Random _random;
    private Model _model = new();
    private readonly List<string> _states = [""];

    public Workload(int seed) => _random = new Random(seed);

    public static string[] Keys { get; } = [.. Enumerable.Range(0, 24).Select(static i => $"key{i}")];

    /// <summary>State after batch n.</summary>
    public string State(ulong batch) => _states[(int)batch];
    /// <summary>The last batch of which a client would have been told that it is durable.</summary>
    public ulong Durable { get; private set; }

    /// <summary>Takes back what did not survive: the script goes on behind batch n.</summary>
    public Workload From(ulong batch)
    {
        _states.RemoveRange((int)batch + 1, _states.Count - (int)batch - 1);
        _model = Model.Parse(_states[^1]);
        return this;
    }

    public List<TestEntry> NextBatch()
    {
        List<TestEntry> batch = _random.Next(8) switch
        {
            0 => [Control(_random)],
            1 => [Change(_random), Control(_random), Change(_random), Change(_random), Control(_random), Change(_random)],
            _ => [.. Enumerable.Range(0, _random.Next(1, 12)).Select(_ => Change(_random))],
        };
        foreach (TestEntry entry in batch) _model.Apply(entry);
        _states.Add(_model.Text());
        return batch;
    }

    /// <summary>Runs steps: up to <paramref name="perWrite"/> batches a write, a sync after every few writes.</summary>
    public void Run(LogBuilder builder, int writes, int perWrite = 3, int syncEvery = 2)
    {
        for (int write = 1; write <= writes; write++)
        {
            for (int i = _random.Next(perWrite); i >= 0; i--) builder.Add(NextBatch());
            builder.Write();
            if (write % syncEvery != 0) continue;
            builder.Sync();
            Durable = builder.Durable;
        }
    }

    /// <summary>A random operation on the whole store.</summary>
    public static TestEntry Control(Random random) => random.Next(3) switch
    {
        0 => new TestEntry(TestEntry.FlushDatabase, 0, "", $"{random.Next(Model.Databases)}"),
        1 => new TestEntry(TestEntry.SwapDatabases, 0, "", "0 1"),
        _ => new TestEntry(TestEntry.FlushAll, 0, "", ""),
    };

    /// <summary>A random change of a key.</summary>
    public static TestEntry Change(Random random)
    {
        byte operation = random.Next(10) switch { < 3 => TestEntry.Put, < 9 => TestEntry.Extend, _ => TestEntry.Delete };
        string argument = operation == TestEntry.Delete ? "" : new string((char)('a' + random.Next(26)), random.Next(1, 60));
        return new TestEntry(operation, random.Next(Model.Databases), Keys[random.Next(Keys.Length)], argument);
    }
}
