using Garnet.Server.Base;

namespace Garnet.Server.Clients;

/// <summary>One key that a connection watches. All but the chain is fixed at birth.</summary>
internal sealed class Watch(WatchedKeys owner, int database, ReadOnlySpan<byte> key, ulong hash, bool existed)
    : KeyLink<Watch>(database, key, hash)
{
    private const int OwnBytes = 128;

    internal WatchedKeys Owner { get; } = owner;

    /// <summary>True if the key was there, and its time had not come, when WATCH was called.</summary>
    internal bool Existed { get; } = existed;

    /// <summary>Bytes of memory, about.</summary>
    internal long MemoryBytes => OwnBytes + Bytes.Length;
}
