using Garnet.Server.Clients;

namespace Garnet.Server.Blocking;

/// <summary>Says whether a command that has waited may be served (blocking.B5).</summary>
internal interface IServeRule
{
    /// <summary>blocking.B7: false while keys may hold a part of what they are to hold.</summary>
    bool MayLook(Worker worker);

    /// <summary>True if there is anybody to ask about the client that waits.</summary>
    bool Asks(Worker worker, Connection client);

    /// <summary>
    /// Asks on the thread of whoever serves, who holds no lock. False: the command is refused with the error, or goes on waiting for something else.
    /// </summary>
    bool MayServe(Worker worker, KeyWait wait, out byte[] refusal, out Parking? other);
}
