using Microsoft.Extensions.Logging;

namespace Garnet.Server.Base;

/// <summary>
/// What the server says in its log; ids are never reused. Lines are written as finished text: the generated delegates of
/// LoggerMessage are compiled at run time, each with its own argument types, and cost the start 3 ms (measured).
/// A logger that fails costs its line and nothing else: those who write here serve clients.
/// </summary>
internal sealed class ServerLog(ILogger logger)
{
    private long _lost;

    internal void QueryBufferExceeded(long id, string peer) =>
        Write(LogLevel.Warning, 2, $"Client {id} ({peer}) sent more than client-query-buffer-limit without completing a command; closed");

    internal void ForeignProtocol(string peer) =>
        Write(LogLevel.Warning, 3, $"{peer} spoke HTTP to this port: a cross-protocol attack or a wrong address; closed");

    internal void SlowReaderClosed(long id, string peer, long bytes) =>
        Write(LogLevel.Warning, 4, $"Client {id} ({peer}) does not read its replies: {bytes} bytes waiting, over its class limit; closed");

    internal void LongReplyClosed(long id, string peer, long bytes, long limit) =>
        Write(LogLevel.Warning, 74,
            $"Client {id} ({peer}) asked for a reply of {bytes} bytes{(bytes > limit ? "" : ", with what stands before it")}, beyond " +
            $"the limit of {limit} of its class (client-output-buffer-limit); it gets an error, and is closed");

    internal void ClientEvicted(long id, string peer, long bytes) =>
        Write(LogLevel.Warning, 64,
            $"Client {id} ({peer}) takes {bytes} bytes, the most of all, and all together are over maxmemory-clients; closed");

    internal void AcceptFailed(int errno, string reason) =>
        Write(LogLevel.Warning, 5, $"Cannot accept connections (errno {errno}): {reason}; trying again every 100 ms");

    internal void ReactorFailed(Exception error, int index) =>
        Write(LogLevel.Error, 6, $"Reactor {index} failed; the process stops because its connections would hang", error);

    internal void CommandFailed(Exception error, string command, long id, string peer) =>
        Write(LogLevel.Error, 61,
            $"{command} failed through a mistake of the server, before it changed anything; its client {id} ({peer}) is closed. Please " +
            "report this", error);

    internal void AclSaveFailed(string path, string why) =>
        Write(LogLevel.Error, 100, $"The users cannot be written to {path}: {why}; the file is whole, as it was or as it was to be");

    internal void PasswordIsVoid(string path) => Write(LogLevel.Warning, 103,
        $"requirepass has no effect: {path} says who user default is, with other passwords or none. "
            + "Put the password there (>password), or take requirepass away");

    internal void AuditFailed(string path, string why) => Write(LogLevel.Error, 101,
        $"The audit trail cannot be written to {path}: {why}; what it lacks is counted (INFO garnet_audit_lost)");

    internal void Audited(string line) => Write(LogLevel.Information, 102, line);

    internal void TlsRenewed(long expiresUnixSeconds) => Write(
        LogLevel.Information, 110, "New connections get the certificate that the files hold now"
        + (expiresUnixSeconds == 0 ? "" : $"; it expires at {DateTimeOffset.FromUnixTimeSeconds(expiresUnixSeconds):u}"));

    internal void TlsKept(string why, string next) =>
        Write(LogLevel.Error, 111, $"The files of TLS have changed and cannot be used: {why}. Those before them stay in force. {next}");

    internal void HandshakeFailed(string peer, string why, long unsaid) =>
        Write(LogLevel.Warning, 112, $"{peer} gets no TLS connection: {why}; closed{Unsaid(unsaid)}");

    internal void SpokeTls(string peer, long unsaid) => Write(LogLevel.Warning, 113,
        $"{peer} spoke TLS to a port that is not encrypted: a wrong address, or tls-port is not set; closed{Unsaid(unsaid)}");

    internal void TlsBroken(long client, string peer, string why) =>
        Write(LogLevel.Debug, 115, $"The TLS connection of client {client} ({peer}) broke: {why}; closed");

    internal void TlsCutOff(long client, string peer, string why, long unsaid) =>
        Write(LogLevel.Warning, 118, $"The TLS connection of client {client} ({peer}) is cut off: {why}; closed{Unsaid(unsaid)}");

    internal void TlsDoubted(string doubt) => Write(LogLevel.Warning, 114, doubt);

    internal void BulkMemoryLost(ulong session, long ms) => Write(LogLevel.Warning, 120,
        $"Bulk session {session} has ended, and something of its client's still holds memory of a transfer after {ms} ms: "
            + "it stays taken until that lets go, or its process ends");

    internal void BulkMemoryCameBack(ulong session) =>
        Write(LogLevel.Information, 121, $"The memory of bulk session {session}, which had ended before, is free");

    internal void BulkStopWaits(int sessions, long ms) => Write(LogLevel.Information, 122,
        $"The stop waits for {sessions} bulk {(sessions == 1 ? "session" : "sessions")} whose memory clients still hold, {ms} ms at most");

    internal void BulkStopLeaves(long sessions) => Write(LogLevel.Warning, 123,
        $"The stop goes on while clients still hold memory of {sessions} bulk {(sessions == 1 ? "session" : "sessions")}: "
            + "it ends with the process");

    internal void Stopped() => Write(LogLevel.Information, 7, "Stopped");

    internal void ShutdownAsked() => Write(LogLevel.Information, 8, "User asked for a stop (SHUTDOWN)");

    internal void TooFewFiles(long wanted, long limit, long fits) => Write(
        LogLevel.Warning,
        9,
        $"maxclients {wanted} cannot be reached: the limit of open files (RLIMIT_NOFILE, ulimit -n) is {limit}, which leaves room for " +
        $"{fits} clients; raise the limit or lower maxclients");

    internal void Loaded((string File, long Records)? snapshot, long entries, long batches, long bytes, long ms) => Write(
        LogLevel.Information,
        10,
        $"Loaded: {(snapshot is var (file, records) ? $"{records} records of {file}, then " : "")}"
            + $"{entries} log entries in {batches} batches, {bytes} bytes, {ms} ms");

    internal void DirectoryMade(string path, string first) => Write(LogLevel.Information, 128,
        $"The data directory {path} was not there and has been made, empty{(first == path ? "" : $", from {first} on")}: "
            + "if there were data to go on from, look at dir");

    internal void OverLimit(long used, long limit) =>
        Write(LogLevel.Warning, 58,
            $"What was loaded takes {used} bytes, maxmemory is {limit}: until that fits, keys are evicted or writes refused, as " +
            "maxmemory-policy says");

    internal void LoadGivenUp() =>
        Write(LogLevel.Information, 66, "Loading was given up, as the server stops; what is on disk is as it was");

    internal void Imported(string path, long keys, long expired, long ms) =>
        Write(LogLevel.Information, 20,
            $"Imported {path}: {keys} keys in {ms} ms{(expired > 0 ? $"; {expired} were left out since their time had come" : "")}");

    internal void ImportPassedOver(string path, string why, string next) =>
        Write(LogLevel.Warning, 137, $"{path} is not imported: {why}. {next}");

    internal void SaveDue(long changes, long seconds) =>
        Write(LogLevel.Information, 11, $"{changes} changes in {seconds} seconds: taking a snapshot");

    internal void BackupTaken(string name, long keys, long bytes, long ms) => Write(LogLevel.Information, 130,
        $"Backup {name} is taken and verified: {keys} keys, {bytes} bytes, {ms} ms");

    internal void BackupFailed(string why) => Write(LogLevel.Error, 131,
        $"No backup: {why.TrimEnd('.')}. Those that were there are as they were");

    internal void BackupsRemoved(int count) => Write(LogLevel.Information, 133, $"{count} older backups were removed (backup-keep)");

    internal void BackupsNotRemoved(string why) =>
        Write(LogLevel.Error, 134, $"The backup is there, and older ones cannot be removed: {why.TrimEnd('.')}");

    internal void BackupsUnopened(string path, List<string> why) => Write(LogLevel.Warning, 135,
        $"{why.Count} of the files in {path} have the name of a backup and could not be opened, so they are neither listed nor removed: "
        + $"{string.Join("; ", why.GetRange(0, Math.Min(why.Count, 8)))}{(why.Count > 8 ? "; …" : "")}. "
        + "Let the server's user read them, or move them away");

    internal void BackupIsToCome(string name) => Write(LogLevel.Warning, 136,
        $"The backup {name} is of a moment which is still to come: a clock was wrong. It counts as older than all others. "
        + "See that the clock is right now");

    internal void BackupKeyIsOpen(string path) => Write(LogLevel.Warning, 132,
        $"Others than its owner may read {path}, and with it every backup: chmod 600 {path}");

    internal void SavesBeforeStop() => Write(LogLevel.Information, 65, "Taking a snapshot before the end");

    internal void TierGone(string why) => Write(LogLevel.Warning, 129,
        $"What snapshots name on the tier would not be there at the next start ({why}): taking a snapshot that has all of it. " +
        "Stop the server in an orderly way and start it again, and it has a new file");

    internal void TierLostAtStop(string why) => Write(LogLevel.Warning, 127,
        $"What snapshots name on the tier would not be there at the next start ({why}): taking a snapshot that has all of it before " +
        "the end");

    internal void LogGrown(long bytes) =>
        Write(LogLevel.Information, 12, $"The append-only file has grown by {bytes} bytes: taking a snapshot to shorten it");

    internal void TierWaits(long bytes) =>
        Write(LogLevel.Information, 80, $"{bytes} bytes of the tier wait for a snapshot to be free: taking one");

    internal void Saved(long records, long bytes, long ms) =>
        Write(LogLevel.Information, 13, $"Snapshot of {records} records, {bytes} bytes, taken in {ms} ms");

    internal void SaveFailed(string why) => Write(LogLevel.Error, 14, $"The snapshot failed: {why}");

    internal void SaveGivenUp() =>
        Write(LogLevel.Information, 62, "The snapshot was given up: the server stops, or gets other data; the one before stays");

    internal void SaveWithoutDirectory() =>
        Write(LogLevel.Warning, 15, "save has no effect: no directory is set, data is in memory only; the setting dir names one");

    internal void Progress(string line) => Write(LogLevel.Information, LogEvents.Progress, line);

    internal void Recovery(string message) => Write(LogLevel.Warning, 19, message);

    internal void RecoveryNote(string note) => Write(LogLevel.Information, 63, note);

    internal void WritesRefused(string why) => Write(LogLevel.Error, 16, $"Writes are refused: {why}");

    internal void TierReadFailed(string why, string remedy, long failures) => Write(LogLevel.Error, 75,
        $"A value cannot be read from the tier ({why}), {failures} until now: while that lasts its key answers an error, and a replica " +
        $"that needs a full copy gets none. {remedy}");

    internal void TierAnswersNot(string why) => Write(LogLevel.Error, 124,
        $"The tier's disk does not answer ({why}): commands on keys that lie there have an error after tier-read-timeout, others go on; "
            + "look at the disk (INFO tiering: tier_owed_reads)");

    internal void TierAnswers() => Write(LogLevel.Information, 125, "The tier's disk has answered: its keys can be read again");

    internal void TierLeft() => Write(LogLevel.Error, 126,
        "The tier's disk has not answered a write until the end: the process ends when the system lets go of it; what the log and the " +
        "snapshots have is there");

    internal void TierGivenUp(string why, long records) => Write(LogLevel.Warning, 83,
        $"A damaged value on the tier ({why}) is gone, {records} until now: a command has set or removed the key whose hash it had");

    internal void TierWritesFail(string why) => Write(LogLevel.Error, 76,
        $"The tier takes no writes ({why}): values stay in memory, and when that is full maxmemory-policy decides; trying again every " +
        "second");

    internal void TierWritesAgain() => Write(LogLevel.Information, 77, "The tier takes writes again");

    internal void TierFull() => Write(LogLevel.Warning, 78,
        "The tier is full: keys are evicted or writes refused, as maxmemory-policy says, until room comes back; a larger tier-size " +
        "needs a restart");

    internal void TierHasRoom() => Write(LogLevel.Information, 79, "The tier has room again");

    internal void TierBudgetSpent() => Write(LogLevel.Warning, 81,
        "As much was written to the tier as tier-write-rate and tier-write-per-day allow: until more is due, keys are evicted or writes "
            + "refused when memory is full, as maxmemory-policy says");

    internal void TierBudgetAgain() => Write(LogLevel.Information, 82, "The tier is written to again");

    internal void WritesTaken(string cause) => Write(LogLevel.Information, 17, $"Writes are no longer refused ({cause})");

    internal void ReplicaCame(string address, int port, string? at)
    {
        string from = at is null ? "it has no log to go on from and gets all data" : $"its log stands at {at}";
        Write(LogLevel.Information, 40, $"Replica {address}:{port} has come, {from}");
    }

    internal void ReplicaLeft(string address, int port, string why) =>
        Write(LogLevel.Information, 41, $"Replica {address}:{port} has gone: {why}");

    internal void PlaceGivenUp(string address, int port, string why) =>
        Write(LogLevel.Information, 57, $"Nothing is kept any more for the replica {address}:{port} that has gone: {why}");

    internal void ExportBegins(string address) => Write(LogLevel.Information, 67, $"{address} asks for all data as an RDB file");

    internal void Exported(string address, long keys, long bytes, long ms) =>
        Write(LogLevel.Information, 68, $"{address} has got all data as an RDB file: {keys} keys, {bytes} bytes, {ms} ms");

    internal void ExportLost(long hashes, long sortedSets)
    {
        if (hashes > 0)
            Write(LogLevel.Warning, 69,
                $"In that file {hashes} hashes have lost the times at which fields expire: its version cannot hold them; " +
                "rdb-export-version 12 can, for readers that know it");
        if (sortedSets > 0)
            Write(LogLevel.Warning, 70,
                $"In that file {sortedSets} sorted sets have lost the times at which members expire: the format cannot hold them");
    }

    internal void ExportFailed(string address, string why) => Write(LogLevel.Warning, 71, $"{address} has not got all data: {why}");

    internal void Follows(string primary) => Write(LogLevel.Information, 42, $"This server is a replica of {primary} now");

    internal void LinkBroken(string primary, string why) =>
        Write(LogLevel.Warning, 43, $"No link to the primary {primary}: {why}; trying again");

    internal void PartialSync(string primary, string at) => Write(LogLevel.Information, 44, $"Following {primary} from {at} on");

    internal void FullSync(string primary, string at) => Write(LogLevel.Information, 45, $"Getting all data of {primary} as of {at}");

    internal void Discarded(string mine, long writes, string? file) => Write(LogLevel.Warning, 46,
        (writes < 0
            ? $"What this server had written in its own history up to {mine} is discarded; how much of that the primary never had is " +
                "not known"
            : $"Discarded {(writes == 1 ? "1 write" : $"{writes} writes")} that this server had up to {mine} and the primary never had")
        + (file is null ? "" : $"; {(writes == 1 ? "it is" : "they are")} kept in {file}"));

    internal void OrphanDropped(string name) =>
        Write(LogLevel.Warning, 55, $"Deleted {name}: writes discarded earlier are kept in a limited number of files");

    internal void OrphanFailed(string why) => Write(LogLevel.Warning, 56, $"The writes that are discarded cannot be kept in a file: {why}");

    internal void Promoted(uint term, ulong batch, string at) =>
        Write(LogLevel.Information, 47,
            $"This server is a primary now: term {term} begins {(batch == 0 ? "with the first batch" : "behind " + at)}");

    internal void PromotedTorn() =>
        Write(LogLevel.Warning, 48,
            "This server became a primary while it was getting all data of another one, and what it had before is kept nowhere: it " +
            "begins empty");

    internal void ReadsBack() =>
        Write(LogLevel.Information, 59,
            "This server became a primary while it was getting all data of another one: it reads back from its own disk what " +
            "it had before");

    internal void OldGivenUp() =>
        Write(LogLevel.Warning, 60,
            "The primary's data do not fit into maxmemory beside what was here before, which is given up: until they are whole this " +
            "server has nothing to lead with");

    internal void HandsOver() => Write(LogLevel.Information, 50, "This server is giving its place as primary to a replica: writes wait");

    internal void HandedOver(string to, string at) => Write(LogLevel.Information, 51, $"{to} is the primary now, from {at} on");

    internal void HandoverGivenUp(string why) => Write(LogLevel.Warning, 52, $"This server stays the primary: {why}");

    internal void Diverged(string address, int port, string at) =>
        Write(LogLevel.Error, 53,
            $"Replica {address}:{port} stands at {at}, and this server has another batch of that term and number: the two histories " +
            "have diverged; it gets all data anew");

    internal void Differs(string primary, ulong batch) =>
        Write(LogLevel.Error, 54, $"The data here differ from those of {primary} behind the same batch, {batch}; getting all data anew");

    internal void Failed(string why) => Write(LogLevel.Critical, 73, why);

    internal void Script(int level, string text)
    {
        LogLevel[] levels = [LogLevel.Trace, LogLevel.Debug, LogLevel.Information, LogLevel.Warning];
        Write(levels[level], 72, text);
    }

    /// <summary>Lines that were not written, as far as is known.</summary>
    internal long Lost => Volatile.Read(ref _lost) + ((logger as ILostLines)?.LostLines ?? 0);

    private static string Unsaid(long lines) => lines == 0 ? "" : $" (and {lines} like it before)";

    private void Write(LogLevel level, int id, string text, Exception? error = null)
    {
        try
        {
            if (logger.IsEnabled(level))
                logger.Log(level, new EventId(id), text, error, static (line, _) => line);
        }
        catch (Exception) // the logger is whatever the process was given
        {
            Interlocked.Increment(ref _lost);
        }
    }
}
