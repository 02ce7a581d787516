namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>
/// All changes that one server made while it led, by batch, behind the place where it took over from another lineage: what every key
/// must be behind any batch.
/// </summary>
internal sealed class Lineage(Lineage? parent, ulong fork)
{
    private readonly Dictionary<int, List<(ulong Batch, long Value)>> _changes = [];

    public void Add(ulong batch, int key, long value)
    {
        if (!_changes.TryGetValue(key, out List<(ulong, long)>? changes)) _changes[key] = changes = [];
        changes.Add((batch, value));
    }

    /// <summary>The key's value behind the batch; 0 = it is not there.</summary>
    public long ValueAt(int key, ulong batch)
    {
        if (_changes.TryGetValue(key, out List<(ulong Batch, long Value)>? changes))
        {
            for (int i = changes.Count - 1; i >= 0; i--)
                if (changes[i].Batch <= batch) return changes[i].Value;
        }
        return parent?.ValueAt(key, Math.Min(batch, fork)) ?? 0;
    }

    /// <summary>The lineage in which the batch was made: this one, or the one it took over from.</summary>
    public Lineage MakerOf(ulong batch) => parent is not null && batch <= fork ? parent.MakerOf(batch) : this;

    /// <summary>True if a change that was made in the batch of another lineage is a part of this one.</summary>
    public bool Has(Lineage other, ulong batch) => ReferenceEquals(this, other) || (parent is not null && batch <= fork && parent.Has(other, batch));
}
