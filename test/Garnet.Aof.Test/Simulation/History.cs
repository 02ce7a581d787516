using Garnet.Aof.Test.Reading;

namespace Garnet.Aof.Test.Simulation;

/// <summary>Every change, with the batch it is in: what the store must hold after any batch.</summary>
internal sealed class History
{
    private readonly List<(ulong Batch, TestEntry Entry)> _changes = [];
    private string _base = "";

    public void Add(ulong batch, TestEntry entry) => _changes.Add((batch, entry));

    /// <summary>The state after the batch, in the form of <see cref="Model.Text"/>.</summary>
    public string State(ulong batch)
    {
        Model model = Model.Parse(_base);
        foreach ((ulong of, TestEntry entry) in _changes)
        {
            if (of <= batch) model.Apply(entry);
        }
        return model.Text();
    }

    /// <summary>The batch is the last that survived; history goes on behind it.</summary>
    public void ForgetBehind(ulong batch)
    {
        _base = State(batch);
        _changes.Clear();
    }
}
