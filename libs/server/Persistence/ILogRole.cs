using Garnet.Aof;
using Garnet.Aof.Recovery;
using Garnet.Aof.Shipping;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>What whoever keeps the data must know of the server's place among others, which begins once they are loaded.</summary>
internal interface ILogRole
{
    /// <summary>Its data are another server's.</summary>
    bool IsReplica { get; }

    /// <summary>True where it is decided what expires and what is evicted: on a primary, once its data are loaded.</summary>
    bool Decides { get; }

    /// <summary>The first batch that some replica is still to get.</summary>
    ulong NeededFrom { get; }

    /// <summary>Changes in the log in force.</summary>
    long EntriesLogged { get; }

    /// <summary>The term of what a replica has applied.</summary>
    uint AppliedTerm { get; }

    /// <summary>Where each term begins.</summary>
    IReadOnlyList<TermStart> TermStarts { get; }

    /// <summary>The store is loaded and stands behind <paramref name="start"/>: the server takes the role its settings give it. Null without a log on disk.</summary>
    void Begin(AofStart? start);

    /// <summary>The store as it is at one moment; waits while another snapshot is under way. Null if that was given up.</summary>
    StoreSnapshot? Cut(SnapshotOptions options, CancellationToken cancellation);
}
