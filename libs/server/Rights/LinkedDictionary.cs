using System.Collections;

namespace Garnet.Server.Rights;

/// <summary>
/// Values by name, listed in the order in which they were added. Removing one takes as long wherever it stands, which
/// <see cref="OrderedDictionary{TKey, TValue}"/> does not offer: one command may remove a hundred thousand.
/// </summary>
internal sealed class LinkedDictionary<TValue> : IEnumerable<KeyValuePair<string, TValue>>
{
    private readonly LinkedList<KeyValuePair<string, TValue>> _list = new();
    private readonly Dictionary<string, LinkedListNode<KeyValuePair<string, TValue>>> _nodes = new(StringComparer.Ordinal);

    /// <summary>An empty one.</summary>
    internal LinkedDictionary()
    {
    }

    /// <summary>A copy.</summary>
    internal LinkedDictionary(LinkedDictionary<TValue> other)
    {
        foreach ((string name, TValue value) in other._list)
            Set(name, value);
    }

    internal IEnumerable<string> Names => _list.Select(static pair => pair.Key);

    internal bool Has(string name) => _nodes.ContainsKey(name);

    /// <summary>Adds a name at the end, or changes its value where it stands.</summary>
    internal void Set(string name, TValue value)
    {
        var pair = new KeyValuePair<string, TValue>(name, value);
        if (_nodes.TryGetValue(name, out LinkedListNode<KeyValuePair<string, TValue>>? node))
            node.Value = pair;
        else
            _nodes.Add(name, _list.AddLast(pair));
    }

    /// <summary>False if the name is not there.</summary>
    internal bool Remove(string name)
    {
        if (!_nodes.Remove(name, out LinkedListNode<KeyValuePair<string, TValue>>? node))
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
    public IEnumerator<KeyValuePair<string, TValue>> GetEnumerator() => _list.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
