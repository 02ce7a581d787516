namespace Garnet.Wire.Persistence;

/// <summary>A file that stands for persistent memory, and is trusted to be it.</summary>
internal sealed class RingFile : IDisposable
{
    private const int Bytes = 8 << 20;
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-ring-");

    public RingFile()
    {
        File.WriteAllBytes(Path, new byte[Bytes]);
        if (OperatingSystem.IsLinux()) File.SetUnixFileMode(Path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
    }

    public string Path => System.IO.Path.Combine(_directory.FullName, "ring");

    public string Flags => $"--aof-pm-path {Path} --pm-emulated-trust yes";

    public void Dispose() => _directory.Delete(recursive: true);
}
