using System.Collections.Concurrent;

namespace Garnet.Server.Scripting;

/// <summary>
/// The scripts that EVALSHA finds, for all reactors. Not kept on disk. What EVAL brought is bounded in number and in bytes: what was
/// used longest ago goes; what SCRIPT LOAD brought stays.
/// </summary>
internal sealed class ScriptCache
{
    /// <summary>Scripts that EVAL may bring: as many as redis keeps of them.</summary>
    internal const int PassingMax = 500;

    private const long PassingBytesMax = 64 << 20;

    private readonly Lock _gate = new();
    private ConcurrentDictionary<ScriptName, Script>? _scripts; // made with the first: such a table costs a start its code
    private int _passing;
    private long _passingBytes;
    private long _uses;

    /// <summary>Scripts held.</summary>
    internal int Count => _scripts?.Count ?? 0;

    /// <summary>Bytes of their texts and of what names them.</summary>
    internal long MemoryBytes => _scripts?.Values.Sum(static script => script.MemoryBytes) ?? 0;

    /// <summary>Scripts that have had to go.</summary>
    internal long Evicted { get; private set; }

    /// <summary>The script with the name; null if there is none.</summary>
    internal Script? Find(ScriptName name)
    {
        if (_scripts is not { } scripts || !scripts.TryGetValue(name, out Script? script))
            return null;
        script.LastUse = ++_uses; // lost counts of other threads only make it look older
        return script;
    }

    /// <summary>Adds a script, or returns the one there is.</summary>
    internal Script Add(Script script, bool isLoaded)
    {
        lock (_gate)
        {
            ConcurrentDictionary<ScriptName, Script> scripts = _scripts ??= new();
            bool isNew = !scripts.TryGetValue(script.Name, out Script? held);
            held ??= script;
            if (isNew && !isLoaded)
                Account(held, 1);
            else if (!isNew && isLoaded && !held.IsLoaded)
                Account(held, -1);
            held.IsLoaded |= isLoaded;
            held.LastUse = ++_uses;
            scripts[held.Name] = held;
            while (_passing > PassingMax || _passingBytes > PassingBytesMax)
                EvictOne(scripts);
            return held;
        }
    }

    /// <summary>Forgets all scripts.</summary>
    internal void Flush()
    {
        lock (_gate)
        {
            if (_scripts is not { } scripts)
                return;
            foreach (Script script in scripts.Values)
                script.IsDropped = true;
            scripts.Clear();
            _passing = 0;
            _passingBytes = 0;
        }
    }

    private void Account(Script script, int by)
    {
        _passing += by;
        _passingBytes += by * script.MemoryBytes;
    }

    private void EvictOne(ConcurrentDictionary<ScriptName, Script> scripts)
    {
        Script? oldest = null;
        foreach ((_, Script script) in scripts)
        {
            if (!script.IsLoaded && (oldest is null || script.LastUse < oldest.LastUse))
                oldest = script;
        }

        if (oldest is null)
            return;
        oldest.IsDropped = true;
        scripts.TryRemove(oldest.Name, out _);
        Account(oldest, -1);
        Evicted++;
    }
}
