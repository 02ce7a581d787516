namespace Garnet.Wire.Persistence;

/// <summary>A file that stands for persistent memory, and is trusted to be it.</summary>
internal sealed class RingFile : IDisposable
{
    private const int Bytes = 8 << 20;
    private const string Memory = "/dev/shm";
    private readonly DirectoryInfo _directory;

    /// <summary><paramref name="inMemory"/>: where a fence waits for no disk, as it does not in persistent memory, if there is such a place.</summary>
    public RingFile(bool inMemory = false)
    {
        _directory = inMemory && Directory.Exists(Memory)
            ? Directory.CreateDirectory(System.IO.Path.Combine(Memory, $"garnet-ring-{Guid.NewGuid():N}"))
            : Directory.CreateTempSubdirectory("garnet-ring-");
        File.WriteAllBytes(Path, new byte[Bytes]);
        if (OperatingSystem.IsLinux()) File.SetUnixFileMode(Path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
    }

    public string Path => System.IO.Path.Combine(_directory.FullName, "ring");

    public string Flags => $"--aof-pm-path {Path} --pm-emulated-trust yes";

    public void Dispose() => _directory.Delete(recursive: true);
}
