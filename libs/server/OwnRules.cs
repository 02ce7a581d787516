using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server;

/// <summary>The rules that this server asks about commands besides those it always has: a new one is made here and put beside the others.</summary>
internal static class OwnRules
{
    /// <summary>The rules of a server that is being made.</summary>
    internal static AdmissionHooks Of(ServerCore core) => new()
    {
        Ahead = core.Store.Settings.Tier is null ? null : new FetchedKeys(),
    };
}
