using Garnet.Aof;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>What a data directory holds, read into the store and told to the operator.</summary>
internal sealed class DataLoad(PersistenceSettings settings, DataDirectory directory, IClock clock, ServerLog lines)
{
    private const int SpeakMs = 1000;

    /// <summary>How far the load has come.</summary>
    internal JobProgress Progress { get; } = new("loading", clock);

    /// <summary>Says how far it is, until that is disposed.</summary>
    internal IDisposable Speak() => new Timer(_ => lines.Progress(Progress.Format()), null, SpeakMs, SpeakMs);

    /// <summary>Fills the store at the start.</summary>
    internal RecoveryReport Run(Store store, ReplayTable replay) => Recover(store, replay, Progress);

    /// <summary>Fills the store, which is empty, once more; nobody writes the log meanwhile. Where it goes on.</summary>
    /// <exception cref="GarnetException">It cannot be read back.</exception>
    internal AofStart ReadBack(Store store, ReplayTable replay)
    {
        RecoveryReport report = Recover(store, replay, new JobProgress("reading back", clock));
        Ended(report);
        return report.Start;
    }

    /// <summary>It is over, and was this much.</summary>
    internal void Ended(RecoveryReport report)
    {
        (string, long)? snapshot = report.Snapshot is { } file ? (file, report.SnapshotRecords) : null;
        lines.Loaded(snapshot, report.Entries, report.Batches, report.Bytes, report.ElapsedMs);
    }

    private RecoveryReport Recover(Store store, ReplayTable replay, JobProgress progress)
    {
        var how = new RecoverySettings { OnCorruption = settings.OnCorruption, Threads = Environment.ProcessorCount };
        RecoveryReport report = directory.Recover(store, replay, how, SnapshotFiles.Instance, progress);
        foreach (string message in report.Messages)
            lines.Recovery(message);
        foreach (string note in report.Notes)
            lines.RecoveryNote(note);
        return report;
    }
}
