using Garnet.Common;
using Garnet.Server.Base;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;

namespace Garnet.Server;

/// <summary>The users that settings name, judged by the commands that there are.</summary>
public static class ConfiguredUsers
{
    /// <summary>What is wrong with the users of a configuration file; nothing if they are right.</summary>
    public static IReadOnlyList<string> ProblemsOf(ServerSettings settings)
    {
        ArgumentNullException.ThrowIfNull(settings);
        using var commands = new CommandTable(CommandFamilies.Register);
        return StartingUsers.Take(settings.Security.Users, ServerRights.NewUsers(settings, commands.Specs));
    }

    /// <summary>The users in their first state; what they do can be written down, if it is to be. Else the commands are given back.</summary>
    /// <exception cref="GarnetException">The users are not right, or the audit trail cannot be written.</exception>
    internal static ServerRights Judge(ServerSettings settings, SettingTable table, ServerLog log, CommandTable commands)
    {
        try
        {
            var rights = new ServerRights(settings, table, commands.Specs);
            if (rights.VoidsPassword is { } where)
                log.PasswordIsVoid(where);
            AuditTrail.Expect(settings.Security);
            return rights;
        }
        catch
        {
            commands.Dispose();
            throw;
        }
    }
}
