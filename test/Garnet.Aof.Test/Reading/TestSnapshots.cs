using System.Globalization;
using System.Text;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Test.Reading;

/// <summary>Snapshots for tests: the text of a model, a line with batch and term before it, a checksum behind.</summary>
internal sealed class TestSnapshots : ISnapshotSource
{
    public static string Write(IDisk disk, ulong batch, uint term, string content)
    {
        string text = string.Create(CultureInfo.InvariantCulture, $"{batch} {term}\n{content}");
        uint crc = Crc32C.Of(Encoding.ASCII.GetBytes(text));
        string name = SnapshotFileName.Of(batch);
        WholeFile.Write(disk, name, Encoding.ASCII.GetBytes(text + crc.ToString("x8", CultureInfo.InvariantCulture)));
        disk.SyncDirectory();
        return name;
    }

    public SnapshotFacts Check(IDisk disk, string name, JobProgress progress)
    {
        byte[] bytes = WholeFile.Read(disk, name, 1 << 20);
        if (bytes.Length < 8) return new SnapshotFacts(0, 0, bytes.Length, 0, "too short");
        string crc = Crc32C.Of(bytes.AsSpan(0, bytes.Length - 8)).ToString("x8", CultureInfo.InvariantCulture);
        if (crc != Encoding.ASCII.GetString(bytes, bytes.Length - 8, 8)) return new SnapshotFacts(0, 0, bytes.Length, 0,
            "its checksum does not hold");
        string[] head = Encoding.ASCII.GetString(bytes).Split('\n')[0].Split(' ');
        return new SnapshotFacts(ulong.Parse(head[0], CultureInfo.InvariantCulture), uint.Parse(head[1], CultureInfo.InvariantCulture),
            bytes.Length, 0, null);
    }

    public void Keep(IDisk disk, string name, Store store)
    {
    }

    public IReadOnlyList<string> Load(IDisk disk, string name, Store store, JobProgress progress, DirectoryKey? key = null)
    {
        byte[] bytes = WholeFile.Read(disk, name, 1 << 20);
        foreach (string line in Encoding.ASCII.GetString(bytes, 0, bytes.Length - 8).Split('\n',
            StringSplitOptions.RemoveEmptyEntries).Skip(1))
        {
            string[] words = line.Split(' ');
            Put(store, int.Parse(words[0], CultureInfo.InvariantCulture), words[1], words[2]);
        }
        return [];
    }

    private static unsafe void Put(Store store, int database, string key, string value)
    {
        var table = new ReplayTable();
        table.Add<PutBytes>();
        using StoreSession session = store.OpenSession();
        byte[] bytes = new byte[key.Length + 16];
        Encoding.ASCII.GetBytes(key, bytes);
        fixed (byte* at = bytes, argument = Encoding.ASCII.GetBytes(value + " "))
            table.Apply(session, TestEntry.Put, store.Key(at, key.Length, store.Namespaces.Id(database)),
                new ReadOnlySpan<byte>(argument, value.Length));
    }
}
