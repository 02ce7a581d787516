using Garnet.Server.Clients;

namespace Garnet.Server.Net;

/// <summary>What the receiving of requests asks of the reactor that it is for: once per batch or per connection, never per command.</summary>
internal interface IBatchRunner
{
    /// <summary>Runs what has been framed; afterwards the batch is empty.</summary>
    void ExecuteBatch();

    /// <summary>Makes the connection the one whose replies are written.</summary>
    void SwitchTo(Connection client);

    /// <summary>Tells the transport what to look for, if that has changed.</summary>
    void Watch(Connection client);
}
