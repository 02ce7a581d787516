using System.Text;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Telemetry;

/// <summary>
/// Somebody who looks at the server without being a client of it, as one of its users. What he may see is what the commands would show him, looked up anew each time:
/// rights that are taken away count at once.
/// </summary>
public sealed class Viewer
{
    private readonly ServerContext _server;
    private readonly User _user;

    internal Viewer(ServerContext server, User user) => (_server, _user) = (server, user);

    /// <summary>The user's name.</summary>
    public string Name => _user.Name;

    /// <summary>True if he may run SLOWLOG GET.</summary>
    public bool SeesSlowLog => May("SLOWLOG|GET", "get");

    /// <summary>True if he may run HOTKEYS RECENT.</summary>
    public bool SeesHotKeys => May("HOTKEYS|RECENT", "recent");

    /// <summary>True if he may run CLIENT LIST.</summary>
    public bool SeesClients => May("CLIENT|LIST", "list");

    /// <summary>True if he may run CONFIG GET.</summary>
    public bool SeesSettings => May("CONFIG|GET", "get");

    private bool May(string command, string argument)
    {
        UserRights rights = _user.Rights;
        if (_user.IsGone || !rights.IsOn)
            return false;
        int id = _server.Commands.FindByFullName(Encoding.ASCII.GetBytes(command));
        return rights.AllowsEverything || rights.AllowsCommand(id, Encoding.ASCII.GetBytes(argument));
    }
}
