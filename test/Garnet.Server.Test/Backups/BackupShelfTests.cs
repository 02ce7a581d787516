using Garnet.Aof.Disk;

namespace Garnet.Server.Test.Backups;

/// <summary>The directory of the backups as a server finds it: files that cannot be deleted, written or opened, and names of a time that is still to come.</summary>
internal sealed class BackupShelfTests
{
    private const int HourSeconds = 3600, ApartMs = 10_000;
    private const long YearMs = 365L * 24 * HourSeconds * 1000;

    [Test]
    public void An_old_backup_that_cannot_be_deleted_makes_no_more_of_them_than_were_asked_for()
    {
        string stuck = "";
        using BackupStage stage = new(
            inner => new StubbornDisk(inner) { Keeps = name => name == stuck },
            static settings => (settings.Backups.Keep, settings.Backups.EverySeconds) = (1, HourSeconds));
        stage.Take();
        stuck = stage.Files.Single();
        for (int i = 0; i < 2; i++)
        {
            stage.Clock.ShiftMs += ApartMs;
            stage.Take();
        }

        Assert.That((stage.Files.Length, stage.Files[0]), Is.EqualTo((2, stuck)), "the one between them went");
        Assert.That(stage.Info("garnet_backup_last_error"), Does.Contain($"delete {stuck}: Operation not permitted"));
        Assert.That(stage.Info("garnet_backup_failures"), Is.EqualTo("0"));
        stage.Clock.ShiftMs += HourSeconds * 1000 / 2;
        stage.Backups.StartIfDue();
        Assert.That((stage.Backups.IsRunning, stage.Backups.Taken), Is.EqualTo((false, 3L)), "a backup that was taken is not tried again");
    }

    [Test]
    public void One_that_cannot_be_deleted_costs_no_newer_one_its_place()
    {
        string stuck = "";
        using BackupStage stage = new(inner => new StubbornDisk(inner) { Keeps = name => name == stuck }, static settings => settings.Backups.Keep = 2);
        for (int i = 0; i < 5; i++)
        {
            stage.Take();
            stuck = stage.Files[0];
            stage.Clock.ShiftMs += ApartMs;
        }

        Assert.That((stage.Files.Length, stage.Files[0]), Is.EqualTo((3, stuck)), "two are kept beside it");
    }

    [Test]
    public void Backups_are_looked_at_without_the_right_to_write_them()
    {
        using BackupStage stage = new(static inner => new StubbornDisk(inner) { IsSealed = true }, static settings => settings.Backups.Keep = 1);
        stage.Take();
        stage.Clock.ShiftMs += ApartMs;
        stage.Take();
        Assert.That((stage.Files.Length, stage.Info("garnet_backups")), Is.EqualTo((1, "1")));
        Assert.That(stage.Info("garnet_backup_last_ok_unix"), Is.Not.EqualTo("0"));
        using IDiskFile file = new FileDisk(stage.Folder).OpenToRead(stage.Files.Single());
        Assert.That(() => file.Write(0, [0]), Throws.TypeOf<DiskException>());
    }

    [Test]
    public void A_start_says_which_files_it_could_not_open()
    {
        using BackupStage stage = new();
        stage.Take();
        string name = stage.Files.Single();
        var log = new RecordedLines();
        using var again = new EmbeddedServer(clock: stage.Clock, lines: log, adjust: settings =>
            (settings.Backups.Path, settings.Backups.Before) = (stage.Folder, inner => new StubbornDisk(inner) { Hides = file => file == name }));
        Eventually.Holds(() => log.All.Any(line => line.StartsWith("Warning ", StringComparison.Ordinal) && line.Contains(name) && line.Contains("Permission denied")));
    }

    [Test]
    public void Backups_of_a_time_to_come_are_the_first_to_go()
    {
        using BackupStage stage = new(adjust: static settings => settings.Backups.Keep = 2);
        stage.Clock.ShiftMs = YearMs;
        for (int i = 0; i < 4; i++)
        {
            if (i == 2)
                stage.Clock.ShiftMs = 0;
            stage.Take();
            stage.Clock.ShiftMs += ApartMs;
        }

        Assert.That(stage.Backups.Known, Has.Count.EqualTo(2));
        Assert.That(stage.Backups.Known.Select(static one => one.Header.CreatedMs), Has.All.LessThan(stage.Clock.UnixMs));
    }

    [Test]
    public void The_last_good_backup_is_never_of_a_time_to_come()
    {
        using BackupStage stage = new();
        stage.Take();
        stage.Clock.ShiftMs = YearMs;
        stage.Take();
        stage.Clock.ShiftMs = 0;
        Assert.That(stage.Backups.LastOkMs, Is.LessThanOrEqualTo(stage.Clock.UnixMs));
        var log = new RecordedLines();
        using var again = new EmbeddedServer(clock: stage.Clock, lines: log, adjust: settings => settings.Backups.Path = stage.Folder);
        Eventually.Holds(() => again.Server.Context.Backups.Known.Count == 2 && log.All.Any(static line => line.Contains("which is still to come")));
        Assert.That(again.Server.Context.Backups.LastOkMs, Is.EqualTo(stage.Backups.Known[1].Header.CreatedMs));
    }

    /// <summary>A disk that gives nobody a file to write that is there, or some files not at all, or does not give them up.</summary>
    private sealed class StubbornDisk(IDisk inner) : IDisk
    {
        public bool IsSealed { get; init; }

        public Func<string, bool> Keeps { get; init; } = static _ => false;

        public Func<string, bool> Hides { get; init; } = static _ => false;

        public string Path => inner.Path;

        public IReadOnlyList<string> List() => inner.List();

        public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered) => inner.Create(name, bytes, caching);

        public IDiskFile Open(string name) => IsSealed ? throw Refusal(name) : inner.Open(name);

        public IDiskFile OpenToRead(string name) => Hides(name) ? throw Refusal(name) : inner.OpenToRead(name);

        public void Rename(string from, string to) => inner.Rename(from, to);

        public void Delete(string name)
        {
            if (Keeps(name))
                throw new DiskException("delete", name, "Operation not permitted", isFull: false);
            inner.Delete(name);
        }

        public void SyncDirectory() => inner.SyncDirectory();

        private static DiskException Refusal(string name) => new("open", name, "Permission denied", isFull: false);
    }
}
