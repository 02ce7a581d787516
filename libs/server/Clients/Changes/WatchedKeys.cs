namespace Garnet.Server.Clients;

/// <summary>The keys that one connection watches; its own thread adds, others only mark it.</summary>
/// <param name="isMove">It moves them to another server (MIGRATE).</param>
internal sealed class WatchedKeys(bool isMove = false)
{
    private readonly List<Watch> _watches = [];
    private volatile bool _touched;

    /// <summary>True once one of the keys has changed.</summary>
    internal bool Touched => _touched;

    internal IReadOnlyList<Watch> Watches => _watches;

    /// <summary>True for those of a MIGRATE.</summary>
    internal bool IsMove => isMove;

    /// <summary>Bytes of memory, about.</summary>
    internal long MemoryBytes { get; private set; }

    internal void Add(Watch watch)
    {
        _watches.Add(watch);
        MemoryBytes += watch.MemoryBytes;
    }

    internal void Clear()
    {
        _watches.Clear();
        MemoryBytes = 0;
    }

    /// <summary>One of the keys has changed; from any thread.</summary>
    internal void Touch() => _touched = true;
}
