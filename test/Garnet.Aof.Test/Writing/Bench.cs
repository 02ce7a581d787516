using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Time;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Writing;

/// <summary>A store whose changes go through a log onto a disk in memory.</summary>
internal sealed unsafe class Bench : IDisposable
{
    public const int PatienceMs = 20_000;
    private readonly byte* _room = (byte*)NativeMemory.AllocZeroed(4096);

    public Bench(Action<AofSettings>? change = null, IClock? clock = null, AofStart? start = null, int lanes = 16, long? fenceRoom = null)
    {
        Disk.FenceRoom = fenceRoom;
        Clock = clock as ManualClock ?? new ManualClock();
        change?.Invoke(Settings);
        Log = new AppendOnlyLog(Settings, Disk, clock ?? Clock);
        Store = new Store(new StoreSettings
        {
            MemoryLimitBytes = 64 << 20, Partitions = lanes, Log = Log, HashSeed = 7, BackgroundMovers = false,
        });
        Log.Attach(Store);
        Log.Start(start ?? new AofStart(1, 0, [], lanes, 7));
        Session = Store.OpenSession();
    }

    /// <summary>Small segments, no least time between batches, no waiting that a test did not ask for.</summary>
    public AofSettings Settings { get; } = new() { Sublogs = 1, SegmentBytes = 256 << 10, SealMinUs = 0, Sync = SyncPolicy.Always };
    public MemoryDisk Disk { get; } = new();
    public ManualClock Clock { get; }
    public AppendOnlyLog Log { get; }
    public Store Store { get; }
    public StoreSession Session { get; }

    /// <summary>Waits until a condition holds that other threads bring about.</summary>
    public static void Until(Func<bool> condition, string what) =>
        Assert.That(SpinWait.SpinUntil(condition, PatienceMs), Is.True, "in vain: " + what);

    /// <summary>Writes and nudges; returns the batch the write is in.</summary>
    public ulong Put(string key, byte[] value)
    {
        ulong batch = PutQuietly(key, value);
        Log.Nudge();
        return batch;
    }

    /// <summary>Writes as the store's own movers do, telling nobody.</summary>
    public ulong PutQuietly(string key, byte[] value)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        bytes.CopyTo(new Span<byte>(_room, 4000));
        var put = new Put { Value = value };
        KeyRef at = Store.Key(_room, bytes.Length, Store.Namespaces.Id(0));
        Session.Lock([at]);
        ulong batch = Log.Batch;
        Session.Modify(at, ref put);
        Session.Unlock();
        return batch;
    }

    /// <summary>Writes by a session of the caller's own, as a step of one change.</summary>
    public void Put(StoreSession session, string key, byte[] value)
    {
        byte[] bytes = new byte[key.Length + 32];
        Encoding.UTF8.GetBytes(key, bytes);
        var put = new Put { Value = value };
        fixed (byte* at = bytes) Assert.That(session.Modify(Store.Key(at, key.Length, Store.Namespaces.Id(0)), ref put), Is.EqualTo(Outcome.Done));
        Log.Nudge();
    }

    public ulong Put(string key, string value = "value") => Put(key, Encoding.UTF8.GetBytes(value));

    /// <summary>Writes and waits until it is durable.</summary>
    public ulong PutDurably(string key, string value = "value")
    {
        ulong batch = Put(key, value);
        AwaitDurable(batch);
        return batch;
    }

    public void AwaitDurable(ulong batch) => Until(() => Log.Durable >= batch, $"batch {batch} becomes durable");

    public void AwaitWritten(ulong batch) => Until(() => Log.Written >= batch, $"batch {batch} is written");

    /// <summary>Stops the log and returns its batches, without the empty one that proves the end (log.S4).</summary>
    public List<DecodedBatch> Stopped()
    {
        Log.Stop();
        List<DecodedBatch> batches = BatchDecoder.Read(Disk, Settings.Sublogs);
        if (batches.Count > 0 && batches[^1].Entries.Count == 0) batches.RemoveAt(batches.Count - 1);
        return batches;
    }

    public void Dispose()
    {
        Session.Dispose();
        Log.Dispose();
        Store.Dispose();
        NativeMemory.Free(_room);
    }

    /// <summary>A key of eight bytes in memory of its own, for threads that write on their own.</summary>
    public static void WriteKey(byte* to, long number) => BinaryPrimitives.WriteInt64LittleEndian(new Span<byte>(to, 8), number);
}
