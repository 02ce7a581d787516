using System.Collections;

namespace Garnet.Server.Rights;

/// <summary>
/// Values by name, listed in the order in which they were added. Removing one takes as long wherever it stands, which
/// <see cref="OrderedDictionary{TKey, TValue}"/> does not offer: one command may remove a hundred thousand.
/// </summary>
internal sealed class LinkedDictionary<TValue> : IEnumerable<KeyValuePair<string, TValue>>
{
    private readonly LinkedList<Entry> _list = new();
    private readonly Dictionary<string, LinkedListNode<Entry>> _nodes = new(StringComparer.Ordinal);

    /// <summary>An empty one.</summary>
    internal LinkedDictionary()
    {
    }

    /// <summary>A copy.</summary>
    internal LinkedDictionary(LinkedDictionary<TValue> other)
    {
        foreach (Entry entry in other._list)
            Set(entry.Name, entry.Value);
    }

    internal IEnumerable<string> Names => _list.Select(static entry => entry.Name);

    internal bool Has(string name) => _nodes.ContainsKey(name);

    /// <summary>Adds a name at the end, or changes its value where it stands.</summary>
    internal void Set(string name, TValue value)
    {
        if (_nodes.TryGetValue(name, out LinkedListNode<Entry>? node))
            node.Value.Value = value;
        else
            _nodes.Add(name, _list.AddLast(new Entry { Name = name, Value = value }));
    }

    /// <summary>False if the name is not there.</summary>
    internal bool Remove(string name)
    {
        if (!_nodes.Remove(name, out LinkedListNode<Entry>? node))
            return false;
        _list.Remove(node);
        return true;
    }

    internal void Clear()
    {
        _list.Clear();
        _nodes.Clear();
    }

    /// <inheritdoc/>
    public IEnumerator<KeyValuePair<string, TValue>> GetEnumerator()
    {
        foreach (Entry entry in _list)
            yield return new KeyValuePair<string, TValue>(entry.Name, entry.Value);
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    // An object: what is generic over a struct of another assembly is compiled at every start.
    private sealed class Entry
    {
        internal required string Name { get; init; }
        internal required TValue Value { get; set; }
    }
}
