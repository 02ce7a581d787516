using System.Runtime.InteropServices;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Types.Test;

/// <summary>Lists of thousands of pages against a model: branches of the directory come, are divided, become empty and are taken again.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed unsafe class PageDirectoryTests : IDisposable
{
    // One or two elements fill a page.
    private const int ElementBytes = 2_100, KeyBytes = 4;
    private readonly byte* _key = (byte*)NativeMemory.AllocZeroed(64);
    private readonly List<int> _model = [];
    private Store? _store;
    private StoreSession? _session;
    private int _next;

    public void Dispose()
    {
        _session?.Dispose();
        _store?.Dispose();
        NativeMemory.Free(_key);
    }

    [Test]
    public void A_list_that_grows_and_shrinks_anywhere_is_the_model([Values(1, 2, 3)] int seed)
    {
        Open(1L << 28);
        var random = new Random(seed);
        for (int i = 0; i < 9_000; i++) Insert(_model.Count);
        Compare(random);
        for (int i = 0; i < 4_500; i++) Insert(0);
        Compare(random);
        for (int i = 0; i < 6_000; i++) Insert(random.Next(_model.Count + 1));
        Compare(random);
        uint limit = Look().Limit;
        for (int i = 0; i < 6; i++)
        {
            while (_model.Count > 50) Remove(random.Next(_model.Count), random.Next(300));
            Compare(random);
            while (_model.Count < 12_000) Insert(random.Next(_model.Count + 1));
            Compare(random);
        }

        Assert.That(Look().Limit, Is.LessThan(2 * limit), "numbers of pages that are gone are taken again");
    }

    [Test]
    public void A_queue_takes_the_numbers_of_its_first_pages_again()
    {
        Open(1L << 28);
        for (int i = 0; i < 10_000; i++) Insert(i);
        uint limit = Look().Limit;
        for (int i = 0; i < 40_000; i++)
        {
            Remove(0, 1);
            Insert(_model.Count);
        }

        Compare(new Random(1));
        Assert.That(Look().Limit, Is.LessThanOrEqualTo(limit + 4_000));
    }

    [Test]
    public void What_finds_no_memory_has_changed_nothing([Values(1, 2, 3, 4, 5, 6)] int seed)
    {
        Open((20L << 20) + (seed * 300_000));
        var random = new Random(seed);
        int refused = 0;
        for (int i = 0; i < 40_000 && refused < 2_000; i++)
        {
            int inserts = random.Next(20);
            for (int j = 0; j < inserts; j++) refused += Insert(random.Next(3) == 0 ? 0 : random.Next(_model.Count + 1), mayFail: true) ? 0 : 1;
            if (_model.Count > 4_500) Remove(random.Next(_model.Count), random.Next(10));
        }

        Assert.That(refused, Is.Positive);
        Compare(random);
    }

    private KeyRef Key => _store!.Key(_key, KeyBytes, 0);

    private void Open(long memory)
    {
        _store = new Store(new StoreSettings { BackgroundMovers = false, MemoryLimitBytes = memory });
        _session = _store.OpenSession();
    }

    private bool Insert(int index, bool mayFail = false)
    {
        var step = new Step { Index = index, Value = _next };
        _session!.Edit(Key, ref step);
        Assert.That(step.Done || mayFail);
        if (step.Done) _model.Insert(index, _next++);
        return step.Done;
    }

    private void Remove(int index, int elements)
    {
        elements = Math.Min(elements, _model.Count - index);
        if (elements == 0) return;
        var step = new Step { Index = index, Removes = elements };
        _session!.Edit(Key, ref step);
        _model.RemoveRange(index, elements);
    }

    private void Compare(Random random)
    {
        Assert.That(Look().Forth, Is.EqualTo(_model));
        Assert.That(Look(backwards: true).Forth, Is.EqualTo(_model.AsEnumerable().Reverse()));
        for (int i = 0; i < 300 && _model.Count > 0; i++)
        {
            int index = random.Next(_model.Count);
            Assert.That(Look(index).Forth[0], Is.EqualTo(_model[index]));
        }

        Assert.That(StoreCheck.Run(_store!), Is.Empty);
    }

    private Content Look(long from = 0, bool backwards = false)
    {
        var content = new Content { From = from, One = from > 0, Backwards = backwards, Forth = [] };
        _session!.Examine(Key, ref content);
        return content;
    }

    private struct Step : IEdit
    {
        internal long Index;
        internal int Value;
        internal long Removes;
        internal bool Done;

        public static byte OpId => 0;

        public readonly long EncodedBytesMax => 0;

        public bool Run(ref RecordEdit edit)
        {
            byte* element = stackalloc byte[ElementBytes];
            *(int*)element = Value;
            if (Removes > 0)
                ListForm.Remove(ref edit, Index, Removes);
            Done = Removes > 0 || ListForm.TryInsert(ref edit, Index, new ReadOnlySpan<byte>(element, ElementBytes), ListLimits.Replay);
            return Done;
        }

        public readonly int Encode(Span<byte> to) => 0;

        public bool TryDecode(ReadOnlySpan<byte> from) => false;
    }

    private struct Content : IExamine
    {
        internal long From;
        internal bool One;
        internal bool Backwards;
        internal List<int> Forth;
        internal uint Limit;

        public void Look(ref RecordEdit record)
        {
            Limit = RootLimit.Of(record.Value);
            ListWalk walk = ListWalk.From(ref record, Backwards ? Root.Count(record.Value) : From);
            while (Backwards ? walk.Previous(ref record) : walk.Next(ref record))
            {
                Forth.Add(MemoryMarshal.Read<int>(walk.Span));
                if (One)
                    return;
            }
        }
    }
}
