using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Time;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Reading;

/// <summary>A small store, the operations of the tests, and its content as text.</summary>
internal sealed unsafe class TestStore : IDisposable
{
    private const int KeyBytesMax = 128, ArgumentBytesMax = 16 << 10;
    private readonly byte* _key = (byte*)NativeMemory.AllocZeroed(KeyBytesMax + ArgumentBytesMax);

    public TestStore(int partitions = 8, long memoryBytes = 16L << 20, IWriteLog? log = null, Func<StoreSettings, StoreSettings>? adjust = null)
    {
        StoreSettings settings = Settings(partitions, memoryBytes) with { Log = log };
        Store = new Store(adjust?.Invoke(settings) ?? settings);
        Store.Logging = false; // as at a start
        Table.Add<PutBytes>();
        Table.Add<Extend>();
    }

    public static StoreSettings Settings(int partitions, long memoryBytes) => new()
    {
        MemoryLimitBytes = memoryBytes, ReserveBytes = 2 * memoryBytes, Partitions = partitions, HugePages = false, BackgroundMovers = false, HashSeed = 77,
    };

    public Store Store { get; }
    public ReplayTable Table { get; } = new();

    public RecoveryReport Recover(DataDirectory directory, CorruptionPolicy policy = CorruptionPolicy.Refuse, int threads = 2) =>
        directory.Recover(Store, Table, new RecoverySettings { OnCorruption = policy, Threads = threads }, new TestSnapshots(), Progress());

    public static JobProgress Progress() => new("test", SystemClock.Instance);

    /// <summary>Sets a key.</summary>
    public void Apply(int database, string key, string value) => Apply(new TestEntry(TestEntry.Put, database, key, value));

    /// <summary>Makes one change, of a key or of databases.</summary>
    public void Apply(TestEntry entry)
    {
        if (entry.IsControl)
        {
            ApplyControl(entry);
            return;
        }
        using StoreSession session = Store.OpenSession();
        int bytes = Encoding.ASCII.GetBytes(entry.Argument, new Span<byte>(_key + KeyBytesMax, ArgumentBytesMax));
        var arguments = new ReadOnlySpan<byte>(_key + KeyBytesMax, bytes);
        if (!Table.Apply(session, entry.Operation, Key(entry.Key, entry.Database), arguments))
            throw new InvalidOperationException($"{entry} was refused");
    }

    /// <summary>Asks for the key to go to the tier; true if there is such a key.</summary>
    public bool Demote(int database, string key)
    {
        using StoreSession session = Store.OpenSession();
        return session.Tier!.Demote(Key(key, database), 0) is not null;
    }

    /// <summary>Takes the key back from the tier.</summary>
    public void Promote(int database, string key)
    {
        using StoreSession session = Store.OpenSession();
        session.Tier!.Promote(Key(key, database), 0);
    }

    /// <summary>Reads the key, as a client does.</summary>
    public void Read(int database, string key)
    {
        using StoreSession session = Store.OpenSession();
        var read = new ReadText();
        session.Read(Key(key, database), ref read);
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
            if (Store.Count(Store.Namespaces.Id(database)) != found)
                throw new InvalidOperationException("the store holds keys that nobody wrote");
        }
        return text.ToString();
    }

    public void Dispose()
    {
        Store.Dispose();
        NativeMemory.Free(_key);
    }

    private void ApplyControl(TestEntry entry)
    {
        int[] databases = [.. entry.Argument.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(int.Parse)];
        if (entry.Operation == TestEntry.FlushAll) Store.Namespaces.FlushAll(wait: false);
        else if (entry.Operation == TestEntry.FlushDatabase) Store.Namespaces.Flush(databases[0], wait: false);
        else Store.Namespaces.Swap(databases[0], databases[1]);
    }

    private KeyRef Key(string key, int database)
    {
        int bytes = Encoding.ASCII.GetBytes(key, new Span<byte>(_key, KeyBytesMax));
        return Store.Key(_key, bytes, Store.Namespaces.Id(database));
    }
}
