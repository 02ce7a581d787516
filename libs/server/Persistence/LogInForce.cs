using Garnet.Aof;

namespace Garnet.Server.Persistence;

/// <summary>The log that is written now, and the term in which this server leads it; 0 while it follows. Both are read at once.</summary>
internal sealed record LogInForce(AppendOnlyLog Aof, uint Term);
