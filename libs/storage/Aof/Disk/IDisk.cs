using Garnet.Aof.Pm;

namespace Garnet.Aof.Disk;

/// <summary>
/// The one directory in which everything durable lives, as the engine needs it; files are named without a path. Failures
/// throw <see cref="DiskException"/>. What is written is durable only after <see cref="IDiskFile.Sync"/>; that a file
/// exists, is renamed or gone is durable only after <see cref="SyncDirectory"/>.
/// </summary>
public interface IDisk
{
    /// <summary>The directory, for messages.</summary>
    string Path { get; }

    /// <summary>Persistent memory in which the last bytes of files are durable before they are here; null without.</summary>
    PmRings? Memory => null;

    /// <summary>Names of the files, in ordinal order.</summary>
    IReadOnlyList<string> List();

    /// <summary>Creates a file and sets room of <paramref name="bytes"/> aside (0 = none); it reads as zeros. Fails if it exists.</summary>
    IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered);

    /// <summary>Opens an existing file for reading and writing.</summary>
    IDiskFile Open(string name);

    /// <summary>Opens an existing file for reading; it need not be one that may be written.</summary>
    IDiskFile OpenToRead(string name) => Open(name);

    /// <summary>Gives a file another name, replacing one that has it.</summary>
    void Rename(string from, string to);

    /// <summary>Deletes a file.</summary>
    void Delete(string name);

    /// <summary>
    /// What only this very file has, and no copy of it, wherever it lies; empty if it cannot be told, or others than us may read or write the
    /// file. It changes when the file's bytes, name or rights do.
    /// </summary>
    byte[] MarkOf(string name) => [];

    /// <summary>
    /// Puts into the files what a process that was killed had written to them and the disk has not got; to be called before
    /// anything is read. Returns what was done, for people.
    /// </summary>
    IReadOnlyList<string> Complete() => [];

    /// <summary>So many files of the log will be written side by side.</summary>
    void Expect(int files)
    {
    }

    /// <summary>Gives back what is kept for files to come; nothing is written any more.</summary>
    void Tidy()
    {
    }

    /// <summary>Gives up what belongs to the process besides the files; nothing is read or written any more.</summary>
    void LetGo()
    {
    }

    /// <summary>Makes creations, renames and deletions durable.</summary>
    void SyncDirectory();
}
