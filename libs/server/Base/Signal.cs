namespace Garnet.Server.Base;

/// <summary>
/// Something has happened; one thread waits for it. Holds nothing of the system's, so that whoever comes late may set it when nobody
/// waits any more. For background threads that are woken some times a second: the log's <c>Bell</c> is woken with each batch and so has no
/// lock, but must be alone with its thread; <c>AdvanceBell</c> has many that wait, each for something else.
/// </summary>
internal sealed class Signal
{
    private readonly object _gate = new();
    private bool _isSet;

    /// <summary>Wakes the thread that waits, or the next one that does.</summary>
    internal void Set()
    {
        lock (_gate)
        {
            _isSet = true;
            Monitor.Pulse(_gate);
        }
    }

    /// <summary>Waits until it is set, at most so long, and takes it back.</summary>
    internal void Wait(int milliseconds)
    {
        lock (_gate)
        {
            if (!_isSet)
                Monitor.Wait(_gate, milliseconds);
            _isSet = false;
        }
    }
}
