using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Blocking;

/// <summary>What a blocking command takes from a key once there is something. Small: one lies in every waiting command.</summary>
internal interface IPop
{
    /// <summary>What the key must hold.</summary>
    RecordKind Kind { get; }

    /// <summary>What is told of the key, as of the command that does not wait.</summary>
    KeyEvent? Event { get; }

    /// <summary>Another key that is written with it, null for none.</summary>
    byte[]? Target { get; }

    /// <summary>
    /// Takes from the key, which holds something of the kind, and writes the reply or an error; both keys' partitions are locked.
    /// </summary>
    void Run(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to);
}
