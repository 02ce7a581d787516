using Garnet.Aof;

namespace Garnet.Server.Replication;

/// <summary>What a replica says of itself when it comes.</summary>
internal sealed record HelloFacts(string RunId, string Address, int Port, LogPosition Position);
