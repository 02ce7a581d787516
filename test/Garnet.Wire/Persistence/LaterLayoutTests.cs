using System.Buffers.Binary;
using System.Numerics;
using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>Files whose headers name a layout of values that this server does not know yet: nothing of them is read, and nothing is changed.</summary>
[Parallelizable] // servers of its own
internal sealed class LaterLayoutTests
{
    // The version, and the bytes that the checksum behind them is of (website/docs/format).
    private const int VersionAt = 4, LogCrcAt = 36, SnapshotCrcAt = 4092, FormsOfALayout = 2;

    [Test]
    public void A_log_of_a_later_layout_is_refused_by_name() => Refuses("*.log", LogCrcAt, saves: false);

    [Test]
    public void A_snapshot_of_a_later_layout_is_refused_by_name_although_the_log_has_all_of_it() => Refuses("*.snap", SnapshotCrcAt, saves: true);

    private static void Refuses(string pattern, int crcAt, bool saves)
    {
        using DataServer server = new();
        using (RespConnection connection = server.Connect())
        {
            Assert.That(connection.Call("RPUSH", "list", "a", "b").ToString(), Is.EqualTo(":2"));
            if (saves) Assert.That(connection.Call("SAVE").ToString(), Is.EqualTo("+OK"));
        }

        server.Stop();
        string file = Directory.GetFiles(server.Path, pattern, SearchOption.AllDirectories).Single();
        byte[] whole = File.ReadAllBytes(file), later = [.. whole];
        later[VersionAt] += FormsOfALayout;
        BinaryPrimitives.WriteUInt32LittleEndian(later.AsSpan(crcAt), Crc32C(later.AsSpan(0, crcAt)));
        File.WriteAllBytes(file, later);
        string[] before = Directory.GetFiles(server.Path, "*", SearchOption.AllDirectories);
        (int code, string said) = RefusedStart.Run(server.Path);
        Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
        Assert.That(said, Does.Contain(Path.GetFileName(file)).And.Contain("newer version").And.Contain("Start the version of the server that wrote it"));
        Assert.That(RefusedStart.RunWith("repair", server.Path).Said, Does.Contain("newer version"));
        Assert.That(File.ReadAllBytes(file).AsSpan().SequenceEqual(later), Is.True, "it is as it was"); // at once: it is as large as a segment
        Assert.That(Directory.GetFiles(server.Path, "*", SearchOption.AllDirectories), Is.SupersetOf(before));
        File.WriteAllBytes(file, whole);
        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("LLEN", "list").ToString(), Is.EqualTo(":2"));
    }

    private static uint Crc32C(ReadOnlySpan<byte> bytes)
    {
        uint crc = uint.MaxValue;
        foreach (byte b in bytes) crc = BitOperations.Crc32C(crc, b);
        return ~crc;
    }
}
