using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Common.Test;
using Garnet.Server.Families.SortedSets;
using Garnet.Types.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>
/// A sorted set of many pages against a model: scores change to near and far ones, few and many members have the same. With names as
/// long as a page its directory has branches.
/// </summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed unsafe class SortedOrderTests : IDisposable
{
    private const int ShortBytes = 24;
    private readonly byte* _score = (byte*)NativeMemory.AllocZeroed(64);
    private readonly Arg* _args = (Arg*)NativeMemory.AllocZeroed(2, (nuint)sizeof(Arg));
    private int _members;
    private int _wordBytes;
    private byte* _words;
    private string[] _names = [];
    private Store _store = null!;
    private StoreSession _session = null!;

    public void Dispose()
    {
        _session.Dispose();
        _store.Dispose();
        NativeMemory.Free(_words);
        NativeMemory.Free(_score);
        NativeMemory.Free(_args);
    }

    [Test]
    public void A_large_sorted_set_is_in_order([Values(1, 3, 400, 100_000)] int scores, [Values] bool near, [Values(0, 1_400, 5_000)] int padding)
    {
        Open(1L << 30, padding == 1_400 ? 5_000 : 3_000, padding);
        var random = new Random(scores);
        var model = new Dictionary<string, double>();
        KeyRef key = Key($"set{scores}{near}");
        for (int step = 0; step < _members * (LongRun.IsWanted ? 20 : 4); step++)
        {
            int member = step < _members ? step : random.Next(_members);
            double old = model.GetValueOrDefault(_names[member]);
            double score = near && step >= _members ? old + random.Next(-2, 3) : random.Next(scores);
            if (step % 11 == 10)
                Remove(key, member, model);
            else
                Put(key, member, score, model);
            if (step % 10_000 == 9_999)
                Compare(key, model);
        }

        Compare(key, model);
    }

    [Test]
    public void What_finds_no_memory_stays_in_order([Values(1, 2, 3, 4, 5, 6)] int seed, [Values(1_400, 5_000)] int padding)
    {
        Open((4L << 20) + (seed * 70_000), 5_000, padding);
        var random = new Random(seed);
        var model = new Dictionary<string, double>();
        KeyRef key = Key("full");
        int refused = 0;
        for (int step = 0; step < 40_000; step++)
        {
            int member = random.Next(_members);
            if (random.Next(4) == 0 || refused % 50 == 49)
                Remove(key, member, model);
            refused += Put(key, random.Next(_members), random.Next(5_000), model, mayFail: true) ? 0 : 1;
        }

        Assert.That(refused, Is.Positive);
        Compare(key, model);
    }

    // A fifth of the names are short, whatever is asked for.
    private void Open(long memory, int members, int padding)
    {
        _store = new Store(new StoreSettings { BackgroundMovers = false, MemoryLimitBytes = memory });
        _session = _store.OpenSession();
        _members = members;
        _wordBytes = ShortBytes + padding;
        _words = (byte*)NativeMemory.AllocZeroed((nuint)((members + 4) * _wordBytes));
        _names = new string[members];
        for (int i = 0; i < members; i++)
        {
            // Of all lengths, so that elements are.
            _names[i] = string.Create(CultureInfo.InvariantCulture, $"{i * 7919 % members:X}:{new string('m', i % 9)}{i}{new string('p', i % 5 == 0 ? 0 : padding)}");
            Encoding.ASCII.GetBytes(_names[i], Word(i));
        }
    }

    private bool Put(in KeyRef key, int member, double score, Dictionary<string, double> model, bool mayFail = false)
    {
        int length = Encoding.ASCII.GetBytes(score.ToString(CultureInfo.InvariantCulture), new Span<byte>(_score, 32));
        _args[0] = new Arg { Bytes = _score, Length = length };
        _args[1] = Named(member);
        var put = new SortedSetPut { Pairs = new Operands(_args, 2), Limits = CollectionLimits.Replay };
        bool isDone = _session.Edit(key, ref put) != Outcome.OutOfMemory;
        Assert.That(isDone || mayFail);
        if (!isDone)
            return false;
        Assert.That(put.Added, Is.EqualTo(model.ContainsKey(_names[member]) ? 0 : 1));
        model[_names[member]] = score;
        return true;
    }

    private void Remove(in KeyRef key, int member, Dictionary<string, double> model)
    {
        _args[0] = Named(member);
        var remove = new RemoveMembers { Kind = RecordKind.SortedSet, Keys = new Operands(_args, 1) };
        _session.Edit(key, ref remove);
        Assert.That(remove.Removed, Is.EqualTo(model.Remove(_names[member]) ? 1 : 0));
    }

    private void Compare(in KeyRef key, Dictionary<string, double> model)
    {
        List<string> order = [.. model.OrderBy(static pair => pair.Value).ThenBy(static pair => pair.Key, StringComparer.Ordinal).Select(static pair => pair.Key)];
        var look = new Order([]);
        _session.Examine(key, ref look);
        Assert.That(look.Members, Is.EqualTo(order));
        for (int member = 0; member < _members; member += 97)
        {
            var rank = new RankLook { Member = Named(member) };
            _session.Examine(key, ref rank);
            Assert.That(rank.Found ? rank.Rank : -1, Is.EqualTo(order.IndexOf(_names[member])));
        }
    }

    private Arg Named(int member) => new() { Bytes = _words + (member * _wordBytes), Length = _names[member].Length };

    private Span<byte> Word(int member) => new(_words + (member * _wordBytes), _wordBytes);

    private KeyRef Key(string name)
    {
        byte* bytes = _score + 32;
        int length = Encoding.ASCII.GetBytes(name, new Span<byte>(bytes, 16));
        return _store.Key(bytes, length, 0);
    }

    private struct Order(List<string> members) : IExamine
    {
        internal readonly List<string> Members => members;

        public readonly void Look(ref RecordEdit record)
        {
            var walk = default(SortedWalk);
            walk.Begin(ref record, 0, default);
            while (walk.Next(ref record)) members.Add(Encoding.ASCII.GetString(walk.Span));
        }
    }
}
