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
    private const int TriesMax = 100;

    public static CommandSpec Spec => AclCommands.Spec("ACL|LOAD", 2, "", "Reads the users from the ACL file, all or none.", AclFileCommands.Flags);

    public static Reply Run(ref Call call)
    {
        if (!AclFileCommands.TryPath(ref call, out string path, out Reply failed))
            return failed;
        if (FileWork<Reading>.Taken(call.Client) is not { } reading)
            return Begin(path, call.Server.Rights, tries: 1).Begin(call.Worker, call.Client);
        if (reading.Failure is { } why)
            return call.FailText($"ERR Error loading ACLs, opening file '{path}': {why}");
        if (reading.Result.Errors.Count > 0)
            return call.FailText("ERR " + string.Concat(reading.Result.Errors)
                + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed");
        if (!AclCommands.TryBegin(ref call, out ScriptTurns.AloneTurn turn, out Reply busy))
            return busy;
        using (turn)
        {
            // Else it took back what was changed, and perhaps saved, meanwhile.
            if (reading.Result.Seen != SeenBy(call.Server.Rights))
                return Again(ref call, path, reading.Result.Tries);
            call.Server.Rights.Users.Replace(reading.Result.Users);
            ClientRights.Dismiss(call.Worker);
        }

        if (call.Server.Rights.VoidsPassword is { } where)
            call.Server.Log.PasswordIsVoid(where);

        return call.Ok();
    }

    private static Reply Again(ref Call call, string path, int tries) => tries < TriesMax
        ? Begin(path, call.Server.Rights, tries + 1).Begin(call.Worker, call.Client)
        : call.FailText("ERR The users were changed each time while the file was read: nothing was loaded. Try again when nobody changes them");

    private static FileWork<Reading> Begin(string path, ServerRights rights, int tries) => new(() =>
    {
        lock (rights.FileGate)
        {
            (long, long) seen = SeenBy(rights); // no save is under way
            return new Reading(AclFile.Read(AclDisk.Read(path), path, rights.Users, out List<string> errors), errors, seen, tries);
        }
    });

    // How often users have been changed, and a save has begun or ended.
    private static (long Changes, long Saves) SeenBy(ServerRights rights) => (rights.Users.Changes, rights.Saves);

    private readonly record struct Reading(Dictionary<string, UserRights> Users, List<string> Errors, (long, long) Seen, int Tries);
}

/// <summary>ACL SAVE: the users into the file.</summary>
internal readonly struct AclSave : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|SAVE", 2, "", "Writes the users to the ACL file.", AclFileCommands.Flags);

    public static Reply Run(ref Call call)
    {
        if (!AclFileCommands.TryPath(ref call, out string path, out Reply failed))
            return failed;
        if (FileWork<bool>.Taken(call.Client) is not { } work)
            return Begin(path, call.Server.Rights).Begin(call.Worker, call.Client);
        if (work.Failure is not { } why)
            return call.Ok();
        call.Server.Log.AclSaveFailed(path, why);
        return call.FailBytes("ERR There was an error trying to save the ACLs. Please check the server logs for more information"u8);
    }

    // A file that says something else than it was made of, or is no file of users, is worse than none.
    // One after the other, each as the users are then: the file never goes back to what they were.
    private static FileWork<bool> Begin(string path, ServerRights rights) => new(() =>
    {
        using (rights.BeginSave())
        {
            string text = AclFile.Write(rights.Users.All());
            _ = AclFile.Read(text, path, rights.Users, out List<string> errors);
            if (errors.Count > 0)
                throw new GarnetException(ExitKind.Configuration, path, string.Concat(errors), "Change the rules that it names");
            AclDisk.Write(path, text);
            return true;
        }
    });
}
