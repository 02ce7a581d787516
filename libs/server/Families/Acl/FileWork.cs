using Garnet.Common;
using Garnet.Server.Clients;

namespace Garnet.Server.Families.Acl;

/// <summary>Work on a file that a command waits for: it is done on another thread, since no reactor waits for a disk. The command runs again when it is done.</summary>
/// <param name="work">The work, which may be another command's too.</param>
/// <param name="tries">How often the command has begun it.</param>
internal sealed class FileWork<T>(Task<T> work, int tries) : Parking
{
    internal int Tries => tries;

    /// <summary>What the work has brought, if it could be done.</summary>
    internal T Result => work.GetAwaiter().GetResult();

    /// <summary>Why it could not be done; null if it could. What was no fault of the surroundings is thrown instead.</summary>
    internal string? Failure => work.Exception?.InnerException switch
    {
        null => null,
        FileNotFoundException or DirectoryNotFoundException => "No such file or directory",
        UnauthorizedAccessException => "Permission denied",
        OutOfMemoryException => "Cannot allocate memory",
        IOException or GarnetException => work.Exception.InnerException.Message,
        _ => Throw(),
    };

    /// <summary>What the command has begun when it ran the first time; null if it has begun nothing.</summary>
    internal static FileWork<T>? Taken(Connection client)
    {
        var begun = client.Begun as FileWork<T>;
        client.Begun = null;
        return begun is { IsOver: true } ? begun : null;
    }

    private bool IsOver => work.IsCompleted;

    /// <summary>Begins to wait for it.</summary>
    internal Reply Begin(Worker worker, Connection client)
    {
        client.Begun = this;
        worker.Park(client, this);
        _ = work.ContinueWith(
            _ => worker.Post(static (owner, resumed, _) => owner.TryResume(resumed!), client),
            CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        return Reply.Postponed;
    }

    internal override bool Resume(Worker worker, Connection client) => IsOver;

    private string Throw()
    {
        work.GetAwaiter().GetResult();
        return "";
    }
}
