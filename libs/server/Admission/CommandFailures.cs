using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>
/// What becomes of an exception that left a command.
/// net.R8  A command that asked for more than can be held has an error for its reply, whatever whole changes it, or what ran before it in a
///     transaction or script, has made: they stay. One that failed through a mistake of ours before it changed anything costs its client an
///     error and the connection. Both cost nobody else anything. What fails in the middle of a change, and a mistake behind one, ends the
///     process: nobody can say any more what the store holds.
/// </summary>
internal sealed class CommandFailures(Worker worker, Observers observers, CommandTable commands, ServerLog log)
{
    private const int FewArgs = 3; // of one change

    /// <summary>Answers the client instead of the command; false if the process must end. The client's replies before stay.</summary>
    internal bool TryAnswer(Exception error, Connection client, int command)
    {
        bool inChange = (worker.Session.Changes & 1) != 0, changed = worker.Session.Changes != worker.ChangesBefore;
        if (inChange || (changed && !Unmet.Is(error)))
            return false;
        worker.Session.UnlockTo(0);
        worker.Session.ForgetWanted();
        worker.TakeBackReply();
        observers.HandOnOfFailed(worker);
        observers.Watches.EndTransaction(client);
        if (Unmet.Is(error))
        {
            Fail(Unmet.TextOf(error));
            return true;
        }

        string name = commands.Specs[command].Name;
        worker.Figures.CommandFailures++;
        log.CommandFailed(error, name, client.Id, client.Peer.Remote);
        Fail("ERR the command failed through a mistake of the server, which is in its log; nothing was changed");
        client.CloseAfterReply = true;
        return true;
    }

    /// <summary>
    /// Runs a command that is a part of a transaction. What asks for too much, or replies too much, has its error in place of its reply, the others
    /// run all the same.
    /// </summary>
    internal unsafe Reply RunPart(ref Call call, CommandEntry* entry)
    {
        long whole = worker.Out.BeginPart();
        bool isOff = (call.Client.Modes & ClientModes.ReplyOff) != 0;
        try
        {
            Reply reply = RunPart(ref call, entry, plain: false);
            if (isOff && (call.Client.Modes & ClientModes.ReplyOff) != 0)
                worker.Out.TakeBackReply(); // nobody gets it, however long it is
            return worker.ReplacesLongReply(call.Client) ? Reply.Failed : reply;
        }
        finally
        {
            worker.Out.EndPart(whole); // what fails behind it is a failure of the whole
        }
    }

    /// <summary>
    /// Runs a command that is a part of a script, which gets its reply; if it has no room for that, there is none. A <paramref name="plain"/> one is
    /// of no interest to anybody else.
    /// </summary>
    internal unsafe Reply RunForScript(ref Call call, CommandEntry* entry, bool plain, out bool hasRoom)
    {
        long whole = worker.Out.BeginPart();
        worker.IsForScript = true;
        try
        {
            Reply reply = RunPart(ref call, entry, plain);
            hasRoom = !worker.Out.IsGivenUp;
            if (!hasRoom)
                worker.Out.TakeBackReply();
            return reply;
        }
        finally
        {
            worker.IsForScript = false;
            worker.Out.EndPart(whole);
        }
    }

    private unsafe Reply RunPart(ref Call call, CommandEntry* entry, bool plain)
    {
        int depth = worker.Session.LockDepth;
        worker.Session.Room.BeginPart();
        try
        {
            if ((entry->Flags & CommandFlags.Write) != 0 && call.Count > FewArgs)
                AnnounceRequest(ref call);
            return plain ? Execution.RunPlain(ref call, entry, entry->Id) : Execution.Run(ref call, entry);
        }
        catch (Exception e) when (Unmet.Is(e) && (worker.Session.Changes & 1) == 0)
        {
            worker.Session.UnlockTo(depth);
            worker.TakeBackReply();
            return call.FailText(Unmet.TextOf(e));
        }
    }

    // What it brings goes to the log, perhaps in many changes (store.U22).
    private static void AnnounceRequest(ref Call call)
    {
        long bytes = call.RequestBytes() + (call.Count * (long)Tsavorite.IWriteLog.EntryHeadBytes);
        if (bytes > Tsavorite.IWriteLog.UnannouncedBytesMax)
            call.Session.Room.Announce(bytes);
    }

    private void Fail(string text)
    {
        byte[] bytes = System.Text.Encoding.Latin1.GetBytes(text);
        worker.Out.Error(bytes);
        worker.Figures.CountError(bytes);
    }
}
