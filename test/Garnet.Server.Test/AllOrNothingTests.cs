using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Garnet.Types.Hashes;
using Garnet.Types.Lists;
using Garnet.Types.Sets;
using Garnet.Types.SortedSets;
using Garnet.Types.Strings;
using Tsavorite;
using Tsavorite.Test.Tiers;

namespace Garnet.Server.Test;

/// <summary>What is put into a collection that lies on a tier, and finds no memory midway, leaves it as it was (<see cref="IEdit.IsAllOrNothing"/>).</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed unsafe class AllOrNothingTests : IDisposable
{
    private const int Old = 2000, New = 200, OldBytes = 100, NewBytes = 4000, FillerBytes = 20_000, Rounds = 3;
    private const int RoundBytes = New * NewBytes / (Rounds + 3);
    private readonly byte* _key = (byte*)NativeMemory.AllocZeroed(64);
    private readonly SimulatedMedium _medium = new(64 << 20);
    private readonly Store _store;
    private readonly StoreSession _session;

    public AllOrNothingTests()
    {
        _store = new Store(new StoreSettings { BackgroundMovers = false, Partitions = 1, HashSeed = 42, MemoryLimitBytes = 12 << 20, Tier = _medium });
        _session = _store.OpenSession();
        _session.NowMs = 1_000_000;
    }

    public void Dispose()
    {
        _session.Dispose();
        _store.Dispose();
        _medium.Dispose();
        NativeMemory.Free(_key);
    }

    [TestCase("RPUSH")]
    [TestCase("LPUSH")]
    [TestCase("HSET")]
    [TestCase("SADD")]
    [TestCase("ZADD")]
    public void What_finds_no_memory_midway_has_changed_nothing(string command)
    {
        Assert.That(Put(command, "old", Old, OldBytes), Is.EqualTo(Outcome.Done));
        string before = Content();
        for (int round = 1; round <= Rounds; round++)
        {
            Demote();
            int fillers = Fill(round * RoundBytes);
            Assert.That(Put(command, "new", New, NewBytes), Is.EqualTo(Outcome.OutOfMemory), $"round {round}");
            Assert.That(Content(), Is.EqualTo(before), $"round {round}");
            Assert.That(StoreCheck.Run(_store), Is.Empty);
            Delete(fillers);
        }

        Assert.That(Put(command, "new", New, NewBytes), Is.EqualTo(Outcome.Done));
        Assert.That(Count(), Is.EqualTo(Old + New));
    }

    // 0 is the collection's, the fillers' follow.
    private KeyRef Key(int number)
    {
        *(long*)_key = number;
        return _store.Key(_key, sizeof(long), 0);
    }

    private Outcome Put(string command, string name, int entries, int bytes)
    {
        byte[][] words = [.. Enumerable.Range(0, entries).SelectMany(i => Words(command, $"{name}{i}", i, bytes))];
        int length = words.Sum(static word => word.Length);
        byte* memory = (byte*)NativeMemory.Alloc((nuint)length + RespLimits.ReadableSlack), at = memory;
        var args = new Arg[words.Length];
        for (int i = 0; i < args.Length; at += args[i++].Length)
        {
            args[i] = new Arg { Bytes = at, Length = words[i].Length };
            words[i].CopyTo(new Span<byte>(at, words[i].Length));
        }

        fixed (Arg* first = args)
        {
            Outcome outcome = Put(command, new Operands(first, args.Length));
            NativeMemory.Free(memory);
            return outcome;
        }
    }

    private Outcome Put(string command, Operands operands)
    {
        ListPush push = new() { Values = operands, Left = command == "LPUSH", Limits = ListLimits.Replay };
        HashPut hash = new() { Pairs = operands, Limits = CollectionLimits.Replay };
        SetAdd set = new() { Keys = operands, Limits = CollectionLimits.Replay };
        SortedSetPut sorted = new() { Pairs = operands, Limits = CollectionLimits.Replay };
        KeyRef key = Key(0);
        return command switch
        {
            "HSET" => _session.Edit(key, ref hash),
            "SADD" => _session.Edit(key, ref set),
            "ZADD" => _session.Edit(key, ref sorted),
            _ => _session.Edit(key, ref push),
        };
    }

    private static IEnumerable<byte[]> Words(string command, string name, int number, int bytes)
    {
        byte[] value = Encoding.ASCII.GetBytes(name.PadRight(bytes, 'x'));
        return command switch
        {
            "HSET" => [Encoding.ASCII.GetBytes(name), value],
            "ZADD" => [Encoding.ASCII.GetBytes(number.ToString(CultureInfo.InvariantCulture)), value],
            _ => [value],
        };
    }

    private void Demote()
    {
        DemotionRequest request = _session.Tier!.Demote(Key(0), _session.NowMs)!;
        while (!request.IsDone) _store.StepMovers(_session.NowMs);
        Assert.That(request.Moved, Is.Positive);
    }

    // Until so much memory is left.
    private int Fill(long left)
    {
        byte* value = stackalloc byte[FillerBytes];
        int fillers = 0;
        while (_store.Figures() is { } figures && figures.LimitBytes - figures.UsedBytes > left)
        {
            SetValue set = new() { Value = value, Length = FillerBytes };
            Assert.That(_session.Modify(Key(++fillers), ref set), Is.EqualTo(Outcome.Done));
        }

        return fillers;
    }

    private void Delete(int fillers)
    {
        for (int i = 1; i <= fillers; i++)
        {
            DeleteKey delete = default;
            _session.Modify(Key(i), ref delete);
        }

        for (int i = 0; i < 1000 && _store.StepMovers(_session.NowMs); i++)
        {
            // what is dead is cleaned up
        }
    }

    private string Content()
    {
        CollectionContent content = default;
        Assert.That(_session.Examine(Key(0), ref content), Is.EqualTo(Outcome.Done));
        return content.Text;
    }

    private long Count()
    {
        CountLook look = default;
        _session.Examine(Key(0), ref look);
        return look.Count;
    }
}
