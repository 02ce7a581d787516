using Garnet.Aof;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Server.Persistence;

internal sealed class SnapshotFiles : ISnapshotSource
{
    internal static SnapshotFiles Instance { get; } = new();
    internal static SavedSnapshot Save(Store store, DataDirectory directory, PersistenceSettings settings, IClock clock, JobProgress progress, CancellationToken cancellation) => throw new NotSupportedException();
}
