using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;
using Garnet.Server.Types.Hashes;
using Garnet.Server.Types.Lists;
using Garnet.Server.Types.Sets;
using Garnet.Server.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>What single operations on collections cost in process, without a socket: nanoseconds, and no byte of managed memory.</summary>
[NonParallelizable]
public sealed unsafe class CollectionCost : IReplyRoom, IDisposable
{
    private const int ReplyBytes = 1 << 16, Words = 1 << 20;
    private readonly Store _store = new(new StoreSettings { MemoryLimitBytes = 1L << 30 });
    private readonly StoreSession _session;
    private readonly RespWriter _writer;
    private readonly byte* _reply = (byte*)NativeMemory.Alloc(ReplyBytes + RespWriter.Slack);
    private readonly byte* _key = (byte*)NativeMemory.AllocZeroed(64);
    private readonly byte* _words = (byte*)NativeMemory.AllocZeroed(Words * 16 + 64);
    private readonly Arg* _args = (Arg*)NativeMemory.AllocZeroed(2, (nuint)sizeof(Arg));
    private uint _random = 12345;

    public CollectionCost()
    {
        _session = _store.OpenSession();
        _writer = new RespWriter(this);
    }

    private delegate void Step(int member, int value);

    public void MakeRoom(RespWriter writer, int bytes)
    {
        writer.Position = _reply;
        writer.Limit = _reply + ReplyBytes;
    }

    public void Dispose()
    {
        _session.Dispose();
        _store.Dispose();
        NativeMemory.Free(_reply);
        NativeMemory.Free(_key);
        NativeMemory.Free(_words);
        NativeMemory.Free(_args);
    }

    [Test]
    public void Operations_allocate_no_managed_memory([Values(10, 5_000)] int members)
    {
        foreach ((string name, Step step) in Steps(members))
        {
            for (int i = 0; i < members * 3; i++) step(Next(members), i & 0xFFFF);
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 2_000; i++) step(Next(members), i & 0xFFFF);
            Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.Zero, name);
        }
    }

    [Test, Explicit("measures")]
    public void Nanoseconds([Values(10, 1_000, 100_000, 1_000_000)] int members)
    {
        foreach ((string name, Step step) in Steps(members))
        {
            for (int i = 0; i < members; i++) step(i, i & 0xFFFF);
            int count = Math.Max(members, 500_000);
            double best = double.MaxValue;
            for (int round = 0; round < 5; round++)
            {
                long from = Stopwatch.GetTimestamp();
                for (int i = 0; i < count; i++) step(Next(members), i & 0xFFFF);
                best = Math.Min(best, Stopwatch.GetElapsedTime(from).TotalNanoseconds / count);
            }
            TestContext.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{name} of {members}: {best:F0} ns"));
        }
    }

    private List<(string Name, Step Step)> Steps(int members)
    {
        for (int i = 0; i < members; i++) Encoding.ASCII.GetBytes(i.ToString("D8", CultureInfo.InvariantCulture), new Span<byte>(_words + i * 16L, 8));
        var limits = new CollectionLimits(512, 64, EncodingSettings.PackedBytesDefault);
        var lists = new ListLimits(long.MaxValue, 8192, EncodingSettings.PackedBytesDefault);
        return
        [
            ("HSET", (member, value) =>
            {
                var put = new HashPut { Pairs = Pair(member, value), Limits = limits };
                _session.Edit(Key("hash"), ref put);
            }),
            ("HGET", (member, _) =>
            {
                Pair(member, 0);
                var look = new FieldLook(_writer, _args[0], FieldQuestion.Value);
                _session.Examine(Key("hash"), ref look);
            }),
            ("SADD", (member, value) =>
            {
                Pair(member, 0);
                var add = new SetAdd { Keys = new Operands(_args, 1), Limits = limits, IntegersMax = 512 };
                _session.Edit(Key("set"), ref add);
            }),
            ("SISMEMBER", (member, _) =>
            {
                Pair(member, 0);
                var look = new ContainsLook(_args[0].Bytes, _args[0].Length);
                _session.Examine(Key("set"), ref look);
            }),
            ("ZADD", (member, value) =>
            {
                Pair(value % Math.Min(members, 50_000), 0);
                Arg score = _args[0];
                Pair(member, 0);
                _args[1] = _args[0];
                _args[0] = score;
                var put = new SortedSetPut { Pairs = new Operands(_args, 2), Limits = limits };
                _session.Edit(Key("zset"), ref put);
            }),
            ("ZSCORE", (member, _) =>
            {
                Pair(member, 0);
                var look = new RankLook { Member = _args[0], ScoreOnly = true };
                _session.Examine(Key("zset"), ref look);
            }),
            ("RPUSH", (member, _) =>
            {
                Pair(member, 0);
                var push = new ListPush { Values = new Operands(_args, 1), Limits = lists };
                _session.Edit(Key("list"), ref push);
            }),
            ("LPOP and RPUSH", (member, _) =>
            {
                _writer.Position = _reply;
                var pop = new ListPop { Left = true, Count = 1, To = _writer };
                _session.Edit(Key("list"), ref pop);
                Pair(member, 0);
                var push = new ListPush { Values = new Operands(_args, 1), Limits = lists };
                _session.Edit(Key("list"), ref push);
            }),
        ];
    }

    private Operands Pair(int member, int value)
    {
        _writer.Position = _reply;
        _writer.Limit = _reply + ReplyBytes;
        _args[0] = new Arg { Bytes = _words + member * 16L, Length = 8 };
        _args[1] = new Arg { Bytes = _words + value % 1000 * 16L, Length = 8 };
        return new Operands(_args, 2);
    }

    private KeyRef Key(string name)
    {
        for (int i = 0; i < name.Length; i++) _key[i] = (byte)name[i];
        return _store.Key(_key, name.Length, 0);
    }

    private int Next(int below)
    {
        _random ^= _random << 13;
        _random ^= _random >> 17;
        _random ^= _random << 5;
        return (int)(_random % (uint)below);
    }
}
