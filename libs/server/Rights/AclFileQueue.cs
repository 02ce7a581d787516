using Garnet.Common;

namespace Garnet.Server.Rights;

/// <summary>
/// What is done to the ACL file: one thing after the other, on threads that wait for nothing else. Whoever asks for what others have asked for
/// and nobody has begun gets theirs, so that a thousand saves are two at most.
///
/// rights.R4  What was read from the file takes the place of the users only if nobody has changed them since, nor written them: else a load that
///     is slow would take back what was said and saved while it read. That an earlier reading has taken their place is no such change, and what
///     was read before one that has done so comes too late: the file has been loaded as it was later.
/// </summary>
internal sealed class AclFileQueue(Users users)
{
    private readonly Lock _gate = new();
    private Task _last = Task.CompletedTask;
    private Task<AclReading>? _read; // asked for and not begun
    private Task<bool>? _write;
    private long _writes; // begun and ended
    private long _readings; // begun; by one thread at a time
    private long _taken; // the last reading that has become the users

    /// <summary>Readings of the file that were begun.</summary>
    internal long Readings => Volatile.Read(ref _readings);

    /// <summary>The users that the file holds.</summary>
    /// <exception cref="IOException">It cannot be read.</exception>
    internal Task<AclReading> Read(string path)
    {
        lock (_gate)
            return _read ??= Behind(() => Begin(ref _read), () => ReadNow(path));
    }

    /// <summary>The same in place of a reading that was not taken: one for all who have waited for that.</summary>
    internal Task<AclReading> ReadAgain(AclReading stale, string path)
    {
        lock (_gate)
            return stale.Next ??= Read(path);
    }

    /// <summary>Writes the users as they are when it comes to it.</summary>
    /// <exception cref="IOException">It cannot be written.</exception>
    /// <exception cref="GarnetException">It would be no file of users, and the one that is there stays.</exception>
    internal Task<bool> Write(string path)
    {
        lock (_gate)
            return _write ??= Behind(() => Begin(ref _write), () => WriteNow(path));
    }

    /// <summary>True if nobody has changed the users, or written the file, since it was read (rights.R4).</summary>
    internal bool IsOfNow(AclReading reading) => reading.Edits == users.Edits && reading.Writes == Volatile.Read(ref _writes);

    /// <summary>True if it is the users of the server, or one that was read later is, or they were; one who asked for the same has seen to it.</summary>
    internal bool IsDone(AclReading reading) => reading.Number <= Volatile.Read(ref _taken);

    /// <summary>Puts its users in place of all there are. In a turn alone, where it is not done and of now.</summary>
    internal void Take(AclReading reading)
    {
        users.Replace(reading.Users);
        Volatile.Write(ref _taken, reading.Number);
    }

    private Task<T> Behind<T>(Action begin, Func<T> work)
    {
        Task<T> task = _last.ContinueWith(
            _ =>
            {
                begin();
                return work();
            },
            CancellationToken.None, TaskContinuationOptions.DenyChildAttach, TaskScheduler.Default);
        _last = task;
        return task;
    }

    private void Begin<T>(ref Task<T>? waiting)
    {
        lock (_gate)
            waiting = null;
    }

    private AclReading ReadNow(string path)
    {
        (long edits, long writes) = (users.Edits, Volatile.Read(ref _writes));
        long number = Interlocked.Increment(ref _readings);
        Dictionary<string, UserRights> read = AclFile.Read(AclDisk.Read(path), path, users, out List<string> errors);
        return new AclReading(read, errors, edits, writes, number);
    }

    // A file that says something else than it was made of, or cannot be read again, is worse than none.
    private bool WriteNow(string path)
    {
        Interlocked.Increment(ref _writes);
        try
        {
            string text = AclFile.Write(users.All());
            if (text.Length > AclFile.BytesMax)
            {
                throw new GarnetException(
                    ExitKind.Configuration, path, $"it would have more than {AclFile.BytesMax} bytes, and not be read again",
                    "Remove users or rules");
            }

            _ = AclFile.Read(text, path, users, out List<string> errors);
            if (errors.Count > 0)
                throw new GarnetException(ExitKind.Configuration, path, string.Concat(errors), "Change the rules that it names");
            AclDisk.Write(path, text);
            return true;
        }
        finally
        {
            Interlocked.Increment(ref _writes);
        }
    }
}

/// <summary>What was read from the ACL file.</summary>
/// <param name="Users">The users, if nothing is wrong.</param>
/// <param name="Errors">What is wrong, line by line.</param>
/// <param name="Edits">How often users had been changed one by one before.</param>
/// <param name="Writes">How often writing the file had begun or ended.</param>
/// <param name="Number">Which reading it is, in their order.</param>
internal sealed record AclReading(Dictionary<string, UserRights> Users, List<string> Errors, long Edits, long Writes, long Number)
{
    /// <summary>The reading that those have asked for who could not take this one; the queue's.</summary>
    internal Task<AclReading>? Next { get; set; }
}
