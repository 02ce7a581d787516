using System.Diagnostics;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>A file system of the test's own, with what is asked of it; who may not mount one is told so, and the test is skipped.</summary>
internal sealed class Mounted : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-mount-");
    private readonly Stack<string> _mounts = new();

    private Mounted()
    {
    }

    /// <summary>Where what it is to hold goes.</summary>
    public string Path { get; private set; } = "";

    /// <summary>A disk of so many bytes, which is a file.</summary>
    public static Mounted Disk(long bytes) => Make(mounted =>
    {
        string image = System.IO.Path.Combine(mounted._directory.FullName, "image");
        using (FileStream file = File.Create(image)) file.SetLength(bytes);
        Run("mkfs.ext4", "-q", "-m", "0", image);
        mounted.Path = mounted.Mount("disk", "-o", "loop", image);
    });

    /// <summary>What no file can be opened in past the system's cache, and that does not say that it lies in memory: layers over a directory there.</summary>
    public static Mounted WithoutDirectReads() => Make(static mounted =>
    {
        string memory = mounted.Mount("memory", "-t", "ramfs", "ramfs");
        string[] parts = [.. new[] { "lower", "upper", "work" }.Select(name => Directory.CreateDirectory(System.IO.Path.Combine(memory, name)).FullName)];
        mounted.Path = mounted.Mount("layers", "-t", "overlay", "overlay", "-o", $"lowerdir={parts[0]},upperdir={parts[1]},workdir={parts[2]}");
    });

    /// <summary>Nobody may write there any more, or may again; nobody has a file open to write to.</summary>
    public void AllowWrites(bool allows) => Run("mount", "-o", allows ? "remount,rw" : "remount,ro", Path);

    public void Dispose()
    {
        while (_mounts.TryPop(out string? at)) Run("umount", at);
        _directory.Delete(recursive: true);
    }

    private static Mounted Make(Action<Mounted> mounts)
    {
        if (!Environment.IsPrivilegedProcess) Assert.Ignore("a file system is mounted by root only");
        Mounted mounted = new();
        try
        {
            mounts(mounted);
        }
        catch (Exception e) when (e is InvalidOperationException or System.ComponentModel.Win32Exception)
        {
            mounted.Dispose();
            Assert.Ignore($"no file system can be mounted here: {e.Message}");
        }
        return mounted;
    }

    private string Mount(string name, params string[] words)
    {
        string at = _directory.CreateSubdirectory(name).FullName;
        Run("mount", [.. words, at]);
        _mounts.Push(at);
        return at;
    }

    private static void Run(string program, params string[] words)
    {
        using Process process = Process.Start(new ProcessStartInfo(program, words) { RedirectStandardError = true })!;
        string said = process.StandardError.ReadToEnd();
        process.WaitForExit();
        if (process.ExitCode != 0) throw new InvalidOperationException($"{program} {string.Join(' ', words)}: {said}");
    }
}
