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
    private const int TriesMax = 10;

    public static CommandSpec Spec => AclCommands.Spec("ACL|LOAD", 2, "", "Reads the users from the ACL file, all or none.", AclFileCommands.Flags);

    public static Reply Run(ref Call call)
    {
        if (!AclFileCommands.TryPath(ref call, out string path, out Reply failed))
            return failed;
        if (FileWork<AclReading>.Taken(call.Client) is not { } work)
            return Begin(ref call, call.Server.Rights.File.Read(path), tries: 1);
        if (work.Failure is { } why)
            return call.FailText($"ERR Error loading ACLs, opening file '{path}': {why}");
        AclReading reading = work.Result;
        if (reading.Errors.Count > 0)
            return call.FailText("ERR " + string.Concat(reading.Errors)
                + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed");
        if (!AclCommands.TryBegin(ref call, out ScriptTurns.AloneTurn turn, out Reply busy))
            return busy;
        using (turn)
        {
            AclFileQueue file = call.Server.Rights.File;
            if (!file.IsDone(reading) && !file.IsOfNow(reading)) // rights.R4
                return Again(ref call, reading, path, work.Tries);
            Take(ref call, reading);
        }

        if (call.Server.Rights.VoidsPassword is { } where)
            call.Server.Log.PasswordIsVoid(where);

        return call.Ok();
    }

    private static void Take(ref Call call, AclReading reading)
    {
        if (call.Server.Rights.File.IsDone(reading))
            return;
        call.Server.Rights.File.Take(reading);
        ClientRights.Dismiss(call.Worker);
    }

    private static Reply Begin(ref Call call, Task<AclReading> reading, int tries) =>
        new FileWork<AclReading>(reading, tries).Begin(call.Worker, call.Client);

    private static Reply Again(ref Call call, AclReading stale, string path, int tries) => tries < TriesMax
        ? Begin(ref call, call.Server.Rights.File.ReadAgain(stale, path), tries + 1)
        : call.FailText("ERR The users were changed each time while the file was read: nothing was loaded. Try again when nobody "
            + "changes them");
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
            return new FileWork<bool>(call.Server.Rights.File.Write(path), tries: 1).Begin(call.Worker, call.Client);
        if (work.Failure is not { } why)
            return call.Ok();
        call.Server.Log.AclSaveFailed(path, why);
        return call.FailBytes("ERR There was an error trying to save the ACLs. Please check the server logs for more information"u8);
    }
}
