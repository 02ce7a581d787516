using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Families.Sets;
using Garnet.Server.Families.SortedSets;
using Garnet.Types;
using Garnet.Types.Collections;
using Garnet.Types.Hashes;
using Garnet.Types.Lists;
using Garnet.Types.Sets;
using Garnet.Types.SortedSets;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>What single operations on collections cost in process, without a socket: nanoseconds, and no byte of managed memory.</summary>
[NonParallelizable]
public sealed unsafe class CollectionCost : IReplyRoom, IDisposable
{
    private const int ReplyBytes = 1 << 16, TapeSteps = 512, TapeStepBytes = 64, ValueOffset = 32, NameBytes = 8, KeyBytes = 64, ScoresMax = 50_000_000;
    private const int Windows = 25, WindowMs = 20, WarmUpMs = 1000;
    private readonly Store _store = new(new StoreSettings { MemoryLimitBytes = 1L << 30 });
    private readonly StoreSession _session;
    private readonly RespWriter _writer;
    private readonly byte* _reply = (byte*)NativeMemory.Alloc(ReplyBytes + RespWriter.Slack);
    private readonly byte* _key = (byte*)NativeMemory.AllocZeroed(KeyBytes * 8);
    // What the next steps name, one behind the other as in a receive buffer: that is filled in between, and no part of what is measured.
    private readonly byte* _tape = (byte*)NativeMemory.AllocZeroed((TapeSteps + 1) * TapeStepBytes);
    private readonly Arg* _args = (Arg*)NativeMemory.AllocZeroed(2, (nuint)sizeof(Arg));
    private uint _random = 12345;

    public CollectionCost()
    {
        _session = _store.OpenSession();
        _writer = new RespWriter(this);
    }

    private delegate void Step(int place);

    public bool TryMakeRoom(RespWriter writer, int bytes)
    {
        writer.Position = _reply;
        writer.Limit = _reply + ReplyBytes;
        return true;
    }

    public void Dispose()
    {
        _session.Dispose();
        _store.Dispose();
        NativeMemory.Free(_reply);
        NativeMemory.Free(_key);
        NativeMemory.Free(_tape);
        NativeMemory.Free(_args);
    }

    [Test]
    public void Operations_allocate_no_managed_memory([Values(10, 5_000)] int members)
    {
        foreach ((string name, Step step) in Steps(members))
        {
            for (int i = 0; i < members * 3; i += TapeSteps) RunTape(step, members);
            RunTape(step, members);
            FillTape(members);
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < TapeSteps; i++) step(i);
            Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.Zero, name);
        }
    }

    /// <summary>The first one, GET of a string, is the yardstick: what it costs says how fast the machine was.</summary>
    [Test, Explicit("measures")]
    public void Nanoseconds([Values(10, 1_000, 100_000, 1_000_000)] int members)
    {
        foreach ((string name, Step step) in Steps(members))
        {
            FillAll(step, members);
            for (long until = Environment.TickCount64 + WarmUpMs; Environment.TickCount64 < until;) RunTape(step, members);
            double best = double.MaxValue;
            for (int window = 0; window < Windows; window++)
            {
                TimeSpan taken = default;
                int steps = 0;
                for (; taken.TotalMilliseconds < WindowMs; steps += TapeSteps) taken += RunTape(step, members);
                best = Math.Min(best, taken.TotalNanoseconds / steps);
            }
            TestContext.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{name} of {members}: {best:F0} ns"));
        }
    }

    private void FillAll(Step step, int members)
    {
        for (int first = 0; first < members; first += TapeSteps)
        {
            for (int i = 0; i < TapeSteps; i++) Write(i, first + i, Next(ScoresMax));
            for (int i = 0; i < Math.Min(TapeSteps, members - first); i++) step(i);
        }
    }

    private TimeSpan RunTape(Step step, int members)
    {
        FillTape(members);
        long from = Stopwatch.GetTimestamp();
        for (int i = 0; i < TapeSteps; i++) step(i);
        return Stopwatch.GetElapsedTime(from);
    }

    private void FillTape(int members)
    {
        for (int i = 0; i < TapeSteps; i++) Write(i, Next(members), Next(ScoresMax));
    }

    private void Write(int place, int member, int value)
    {
        byte* at = _tape + place * TapeStepBytes;
        member.TryFormat(new Span<byte>(at, NameBytes), out _, "D8", CultureInfo.InvariantCulture);
        value.TryFormat(new Span<byte>(at + ValueOffset, NameBytes), out _, "D8", CultureInfo.InvariantCulture);
    }

    private List<(string Name, Step Step)> Steps(int members)
    {
        var limits = new CollectionLimits(512, 64, EncodingSettings.PackedBytesDefault);
        var lists = new ListLimits(long.MaxValue, 8192, EncodingSettings.PackedBytesDefault);
        byte* hash = Key(0, "hash"), set = Key(1, "sets"), sorted = Key(2, "zset"), list = Key(3, "list"), text = Key(4, "text"), both = Key(5, "both");
        var value = new SetValue { Value = text, Length = NameBytes };
        _session.Modify(Of(text), ref value);
        FillList(both, members, lists);
        return
        [
            ("GET", _ =>
            {
                Begin();
                var copy = new ValueCopy(_writer);
                _session.Read(Of(text), ref copy);
                _writer.Position = copy.End;
            }),
            ("HSET", place =>
            {
                var put = new HashPut { Pairs = Name(place, value: true), Limits = limits };
                _session.Edit(Of(hash), ref put);
            }),
            ("HGET", place =>
            {
                Name(place);
                var look = new FieldLook(_writer, _args[0], FieldQuestion.Value);
                _session.Examine(Of(hash), ref look);
            }),
            ("SADD", place =>
            {
                var add = new SetAdd { Keys = Name(place), Limits = limits, IntegersMax = 512 };
                _session.Edit(Of(set), ref add);
            }),
            ("SISMEMBER", place =>
            {
                Name(place);
                var look = new ContainsLook(_args[0].Bytes, _args[0].Length);
                _session.Examine(Of(set), ref look);
            }),
            ("ZADD", place =>
            {
                Name(place, value: true);
                (_args[0], _args[1]) = (_args[1], _args[0]);
                var put = new SortedSetPut { Pairs = new Operands(_args, 2), Limits = limits };
                _session.Edit(Of(sorted), ref put);
            }),
            ("ZSCORE", place =>
            {
                Name(place);
                var look = new RankLook { Member = _args[0], ScoreOnly = true };
                _session.Examine(Of(sorted), ref look);
            }),
            ("RPUSH", place =>
            {
                var push = new ListPush { Values = Name(place), Limits = lists };
                _session.Edit(Of(list), ref push);
            }),
            ("LPUSH and LPOP, the two", place =>
            {
                var push = new ListPush { Values = Name(place), Left = true, Limits = lists };
                _session.Edit(Of(both), ref push);
                var pop = new ListPop { Left = true, Count = 1, To = _writer };
                _session.Edit(Of(both), ref pop);
            }),
        ];
    }

    private void FillList(byte* key, int members, in ListLimits limits)
    {
        for (int i = 0; i < members; i++)
        {
            var push = new ListPush { Values = Name(0), Limits = limits };
            _session.Edit(Of(key), ref push);
        }
    }

    private void Begin()
    {
        _writer.Position = _reply;
        _writer.Limit = _reply + ReplyBytes;
    }

    private Operands Name(int place, bool value = false)
    {
        Begin();
        byte* at = _tape + place * TapeStepBytes;
        _args[0] = new Arg { Bytes = at, Length = NameBytes };
        _args[1] = new Arg { Bytes = at + ValueOffset, Length = NameBytes };
        return new Operands(_args, value ? 2 : 1);
    }

    private byte* Key(int number, string name)
    {
        byte* at = _key + number * KeyBytes;
        for (int i = 0; i < name.Length; i++) at[i] = (byte)name[i];
        return at;
    }

    private KeyRef Of(byte* key) => _store.Key(key, 4, 0);

    private int Next(int below)
    {
        _random ^= _random << 13;
        _random ^= _random >> 17;
        _random ^= _random << 5;
        return (int)(_random % (uint)below);
    }
}
