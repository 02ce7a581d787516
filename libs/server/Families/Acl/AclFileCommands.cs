using Garnet.Common;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Acl;

/// <summary>What the two commands about the file share.</summary>
internal static class AclFileCommands
{
    internal const CommandFlags Flags = CommandFlags.Admin | CommandFlags.NoMulti; // they wait for a disk

    /// <summary>False, with the answer, if there is no file.</summary>
    internal static bool TryPath(ref Call call, out string path, out Reply failed)
    {
        failed = Reply.Sent;
        path = call.Server.Settings.Security.AclFile;
        if (path.Length > 0)
            return true;
        failed = call.FailText("ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the "
            + "ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store "
            + "users in the Redis configuration.");
        return false;
    }
}

/// <summary>ACL LOAD: the users of the file in place of those there are. One mistake, and nothing changes.</summary>
internal readonly struct AclLoad : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|LOAD", 2, "", "Reads the users from the ACL file, all or none.", AclFileCommands.Flags);

    public static Reply Run(ref Call call)
    {
        if (!AclFileCommands.TryPath(ref call, out string path, out Reply failed))
            return failed;
        if (FileWork.Taken(call.Client) is not { } reading)
            return new FileWork(() => AclDisk.Read(path)).Begin(call.Worker, call.Client);
        if (reading.Failure is { } why)
            return call.FailText($"ERR Error loading ACLs, opening file '{path}': {why}");
        Dictionary<string, UserRights> read = AclFile.Read(reading.Text, path, call.Server.Rights.Users, out List<string> errors);
        if (errors.Count > 0)
            return call.FailText("ERR " + string.Concat(errors)
                + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed");
        if (!AclCommands.TryBegin(ref call, out ScriptTurns.AloneTurn turn, out Reply busy))
            return busy;
        using (turn)
        {
            call.Server.Rights.Users.Replace(read);
            ClientRights.Dismiss(call.Worker);
        }

        if (call.Server.Rights.VoidsPassword is { } where)
            call.Server.Log.PasswordIsVoid(where);

        return call.Ok();
    }
}

/// <summary>ACL SAVE: the users into the file.</summary>
internal readonly struct AclSave : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|SAVE", 2, "", "Writes the users to the ACL file.", AclFileCommands.Flags);

    public static Reply Run(ref Call call)
    {
        if (!AclFileCommands.TryPath(ref call, out string path, out Reply failed))
            return failed;
        if (FileWork.Taken(call.Client) is not { } work)
            return Begin(path, call.Server.Rights.Users).Begin(call.Worker, call.Client);
        if (work.Failure is not { } why)
            return call.Ok();
        call.Server.Log.AclSaveFailed(path, why);
        return call.FailBytes("ERR There was an error trying to save the ACLs. Please check the server logs for more information"u8);
    }

    // A file that says something else than it was made of, or is no file of users, is worse than none.
    private static FileWork Begin(string path, Users users)
    {
        string text = AclFile.Write(users.All());
        return new FileWork(() =>
        {
            _ = AclFile.Read(text, path, users, out List<string> errors);
            if (errors.Count > 0)
                throw new GarnetException(ExitKind.Configuration, path, string.Concat(errors), "Change the rules that it names");
            AclDisk.Write(path, text);
            return "";
        });
    }
}
