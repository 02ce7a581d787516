using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>What whoever asks the rules must know of MULTI and EXEC.</summary>
internal unsafe interface ITransactions : IDisposable
{
    /// <summary>Keeps a command for EXEC.</summary>
    Reply Enqueue(ref Call call, CommandEntry* entry);

    /// <summary>A rule has refused a command while a transaction was open, or EXEC; the refusal stands behind the mark <paramref name="refusal"/>.</summary>
    Reply Refused(ref Call call, CommandEntry* entry, long refusal);

    /// <summary>What a rule says of the commands that are queued, each with the database it will find: the first thing that is not just allowed.</summary>
    AdmissionResult AskQueued(ref Call exec, QueuedQuestion ask);

    /// <summary>Bytes of the store that the commands which are queued may take.</summary>
    long RoomFor(Connection client);
}

/// <summary>What a rule asks of a command that is queued; the entry says which.</summary>
internal unsafe delegate AdmissionResult QueuedQuestion(ref Call call, CommandEntry* entry, int database);
