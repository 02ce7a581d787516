using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>This server's place as whoever takes copies of all its data knows it.</summary>
internal sealed class CopyRole(RoleAccess access, NodePosition position, Shipping shipping)
{
    /// <summary>Raised when copies are to end: the store is about to become another one.</summary>
    internal event Action? Interrupting
    {
        add => shipping.Exports.Interrupting += value;
        remove => shipping.Exports.Interrupting -= value;
    }

    /// <summary>True while there are no data to show because all of them are coming in.</summary>
    internal bool IsLoading => access.IsLoading;

    /// <summary>The term of the log.</summary>
    internal uint Term => position.Term;

    /// <summary>Cuts as soon as nobody else's snapshot runs; null if that is given up before.</summary>
    internal StoreSnapshot? Cut(SnapshotOptions options, CancellationToken cancellation) => shipping.Cuts.Cut(options, cancellation);
}
