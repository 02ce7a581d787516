using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>Who wants to be told of changes of keys, counted by kind; while it is nobody the store does not call (rule tracking.N2).</summary>
internal sealed class KeyListeners
{
    internal KeyListeners()
    {
        Trackers = new Listeners(Turns, Turn);
        Watchers = new Listeners(Turns, Turn);
        Waiters = new Listeners(Turns, Turn);
    }

    /// <summary>Held while what listens changes: the last to come sets what is true.</summary>
    internal Lock Turns { get; } = new();

    /// <summary>Clients that track keys.</summary>
    internal Listeners Trackers { get; }

    /// <summary>Clients that watch keys.</summary>
    internal Listeners Watchers { get; }

    /// <summary>Commands that wait for keys.</summary>
    internal Listeners Waiters { get; }

    /// <summary>Called with <see cref="Turns"/> held when the first of a kind has come or the last has gone.</summary>
    internal Action? Turned { get; set; }

    private void Turn() => Turned?.Invoke();
}
