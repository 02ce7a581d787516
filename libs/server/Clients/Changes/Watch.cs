using Garnet.Server.Base;

namespace Garnet.Server.Clients;

/// <summary>One key that a connection watches. All but the chain and whether it has changed is fixed at birth.</summary>
internal sealed class Watch(WatchedKeys owner, int database, ReadOnlySpan<byte> key, ulong hash, long expireAtMs)
    : KeyLink<Watch>(database, key, hash)
{
    /// <summary>Instead of its expiry: the key was not there when WATCH was called, or its time had come.</summary>
    internal const long NotThere = -1;

    private const int OwnBytes = 128;
    private volatile bool _touched;

    internal WatchedKeys Owner { get; } = owner;

    /// <summary>True if the key was there, and its time had not come, when WATCH was called.</summary>
    internal bool Existed { get; } = expireAtMs != NotThere;

    /// <summary>The key was there and its time has come, though nobody may have removed it yet: another time would have been a change.</summary>
    internal bool IsDue(long nowMs) => expireAtMs > 0 && expireAtMs <= nowMs;

    /// <summary>True once the key has changed.</summary>
    internal bool Touched => _touched;

    /// <summary>The key has changed; from any thread.</summary>
    internal void Touch()
    {
        _touched = true;
        Owner.Touch();
    }

    /// <summary>Only what comes from now on is a change; under the lock of the key's partition.</summary>
    internal void Rearm() => _touched = false;

    /// <summary>Bytes of memory, about.</summary>
    internal long MemoryBytes => OwnBytes + Bytes.Length;
}
