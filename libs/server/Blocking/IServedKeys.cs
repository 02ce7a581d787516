using Garnet.Server.Clients;

namespace Garnet.Server.Blocking;

/// <summary>Is told when a command that waited has been served: what that changed is for others to hear of.</summary>
internal interface IServedKeys
{
    /// <summary>The keys are in the worker's notes; what is told of the one that was taken from.</summary>
    void OnServed(Worker worker, KeyEvent? told);
}
