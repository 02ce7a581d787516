using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Time;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Reading;

/// <summary>A small store, the operations of the tests, and its content as text.</summary>
internal sealed unsafe class TestStore : IDisposable
{
    private readonly byte* _key = (byte*)NativeMemory.AllocZeroed(256);

    public TestStore(int partitions = 8, long memoryBytes = 16L << 20)
    {
        Store = new Store(new StoreSettings
        {
            MemoryLimitBytes = memoryBytes, ReserveBytes = 2 * memoryBytes, Partitions = partitions, HugePages = false,
            BackgroundMovers = false, HashSeed = 77,
        });
        Table.Add<PutBytes>();
        Table.Add<Extend>();
    }

    public Store Store { get; }
    public ReplayTable Table { get; } = new();

    public RecoveryReport Recover(DataDirectory directory, CorruptionPolicy policy = CorruptionPolicy.Refuse, int threads = 2) =>
        directory.Recover(Store, Table, new RecoverySettings { OnCorruption = policy, Threads = threads }, new TestSnapshots(), Progress());

    public static JobProgress Progress() => new("test", SystemClock.Instance);

    /// <summary>Runs one change as the log would.</summary>
    public void Apply(int database, string key, string value)
    {
        using StoreSession session = Store.OpenSession();
        byte[] bytes = Encoding.ASCII.GetBytes(value);
        KeyRef reference = Key(key, database);
        Assert.That(Table.Apply(session, TestEntry.Put, reference, bytes));
    }

    /// <summary>Content in the form of <see cref="Model.Text"/>; looks at the keys of <see cref="Workload"/>.</summary>
    public string Text()
    {
        using StoreSession session = Store.OpenSession();
        var text = new StringBuilder();
        for (int database = 0; database < Model.Databases; database++)
        {
            int found = 0;
            foreach (string key in Workload.Keys.Order(StringComparer.Ordinal))
            {
                var read = new ReadText();
                if (session.Read(Key(key, database), ref read) != Outcome.Done) continue;
                found++;
                text.Append(database).Append(' ').Append(key).Append(' ').Append(read.Text).Append('\n');
            }
            Assert.That(Store.Count(Store.Namespaces.Id(database)), Is.EqualTo(found), "the store holds keys that nobody wrote");
        }
        return text.ToString();
    }

    public void Dispose()
    {
        Store.Dispose();
        NativeMemory.Free(_key);
    }

    private KeyRef Key(string key, int database)
    {
        int bytes = Encoding.ASCII.GetBytes(key, new Span<byte>(_key, 128));
        return Store.Key(_key, bytes, Store.Namespaces.Id(database));
    }
}
