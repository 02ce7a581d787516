using System.Text;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>A directory for a tier, and the settings that use it; with <paramref name="pm"/> one of that size in persistent memory, in a directory of its own, lies above it.</summary>
internal sealed class TierScratch(string memory = "24mb", string size = "512mb", string pm = "") : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-tier-"), _memory = Directory.CreateTempSubdirectory("garnet-tier-pm-");

    public string Path => _directory.FullName;

    public string MemoryPath => _memory.FullName;

    public string Flags => $"--maxmemory {memory} --tier-path {Path} --tier-size {size}{(pm.Length == 0 ? "" : " " + MemoryFlags)}";

    /// <summary>Without the disk.</summary>
    public string FlagsOfMemoryAlone => $"--maxmemory {memory} {MemoryFlags}";

    private string MemoryFlags => $"--tier-pm-path {MemoryPath} --tier-pm-size {pm}";

    /// <summary>Damages what stands under that text on the disk, in the last byte of it, as often as it is there; while no server runs.</summary>
    public void Harm(string text, int copies = int.MaxValue)
    {
        string file = Directory.GetFiles(Path, "tier-*").Single();
        byte[] bytes = File.ReadAllBytes(file), sought = Encoding.Latin1.GetBytes(text);
        using FileStream stream = File.OpenWrite(file);
        int harmed = 0;
        for (int at = bytes.AsSpan().IndexOf(sought); at >= 0 && harmed < copies; harmed++)
        {
            stream.Position = at + sought.Length - 1; // the rest of it stays as it is: it may be hundreds of megabytes
            stream.WriteByte((byte)(sought[^1] ^ 1));
            int next = bytes.AsSpan(at + sought.Length).IndexOf(sought);
            at = next < 0 ? -1 : at + sought.Length + next;
        }
        Assert.That(harmed, Is.Positive);
    }

    public void Dispose()
    {
        _directory.Delete(recursive: true);
        _memory.Delete(recursive: true);
    }
}
