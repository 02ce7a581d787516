using Garnet.Common;
using Garnet.Server.Clients;

namespace Garnet.Server.Families.Acl;

/// <summary>Work on a file that a command waits for: it is done on another thread, since no reactor waits for a disk. The command runs again when it is done.</summary>
internal sealed class FileWork<T>(Func<T> work) : Parking
{
    private volatile bool _isOver;

    /// <summary>What the work has brought, if it could be done.</summary>
    internal T? Result { get; private set; }

    /// <summary>Why it could not be done; null if it could.</summary>
    internal string? Failure { get; private set; }

    /// <summary>What the command has begun when it ran the first time; null if it has begun nothing.</summary>
    internal static FileWork<T>? Taken(Connection client)
    {
        var begun = client.Begun as FileWork<T>;
        client.Begun = null;
        return begun is { _isOver: true } ? begun : null;
    }

    /// <summary>Begins it.</summary>
    internal Reply Begin(Worker worker, Connection client)
    {
        client.Begun = this;
        worker.Park(client, this);
        _ = Task.Run(() =>
        {
            Work();
            worker.Post(static (owner, resumed, _) => owner.TryResume(resumed!), client);
        });
        return Reply.Postponed;
    }

    internal override bool Resume(Worker worker, Connection client) => _isOver;

    private void Work()
    {
        try
        {
            Result = work();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or OutOfMemoryException or GarnetException)
        {
            Failure = e switch
            {
                FileNotFoundException or DirectoryNotFoundException => "No such file or directory",
                UnauthorizedAccessException => "Permission denied",
                OutOfMemoryException => "Cannot allocate memory",
                _ => e.Message,
            };
        }

        _isOver = true;
    }
}
