using Garnet.Aof;

namespace Garnet.Replication;

/// <summary>What a replica says of itself when it comes.</summary>
/// <param name="RunId">Its run.</param>
/// <param name="Address">Where it can be reached.</param>
/// <param name="Port">The port there.</param>
/// <param name="Position">Where its log stands.</param>
/// <param name="Earlier">Where it can go back to, since nothing but empty batches came behind; the position itself if it cannot.</param>
/// <param name="Copy">The full copy that broke off when it was here last; null without one.</param>
public sealed record HelloFacts(string RunId, string Address, int Port, LogPosition Position, LogPosition Earlier, CopyPlace? Copy = null);
