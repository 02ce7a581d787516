using System.Runtime.InteropServices;
using Garnet.Types.Collections;

namespace Garnet.Types.Test;

/// <summary>A page of elements against a list: whichever side moves, what is read either way is the same.</summary>
public sealed unsafe class SequencePageTests : IDisposable
{
    private const int PageBytes = 1024, Guard = 64, Steps = 20_000;
    private readonly byte* _room = (byte*)NativeMemory.AllocZeroed(PageBytes + Guard);
    private readonly List<byte[]> _model = [];

    public void Dispose() => NativeMemory.Free(_room);

    [Test]
    public void A_page_holds_what_a_list_holds([Values(0, 100, PageBytes)] int begin, [Values(1, 2)] int seed, [Values(10, 200)] int lengthMax, [Values] bool sorted)
    {
        SequenceKind kind = sorted ? SequenceKind.Sorted : SequenceKind.List;
        var random = new Random(seed);
        _model.Clear();
        new Span<byte>(_room + PageBytes, Guard).Fill(0xA5);
        SequencePage page = SequencePage.Clear(_room, PageBytes, Math.Min(begin, PageBytes - SequencePage.HeadOf(kind, PageBytes)), kind);
        for (int step = 0; step < Steps; step++)
        {
            // At the edges as often as anywhere between: lists live there.
            int index = random.Next(3) switch { 0 => 0, 1 => _model.Count, _ => random.Next(_model.Count + 1) };
            switch (random.Next(5))
            {
                case < 3:
                    Insert(page, index, random, lengthMax);
                    break;
                case 3 when index < _model.Count:
                    Cut(page, index, 1);
                    break;
                case 4 when index < _model.Count:
                    Cut(page, index, Math.Min(random.Next(1, 4), _model.Count - index));
                    break;
            }

            if (step % 100 == 99) page.SetSigns();
            Compare(page);
        }

        Assert.That(new Span<byte>(_room + PageBytes, Guard).IndexOfAnyExcept((byte)0xA5), Is.EqualTo(-1), "nothing behind the page was touched");
    }

    private void Insert(SequencePage page, int index, Random random, int lengthMax)
    {
        byte[] element = new byte[(page.HasSigns ? sizeof(double) : 0) + random.Next(lengthMax)];
        random.NextBytes(element);
        int bytes = (int)SequencePage.BytesOf(element.Length);
        bool fits = bytes <= page.Free;
        byte* gap = page.TryOpen(Place(page, index), bytes);
        Assert.That(gap != null, Is.EqualTo(fits), "there is room, or not");
        if (gap == null) return;
        SequencePage.Write(gap, element.AsSpan(0, element.Length / 2), element.AsSpan(element.Length / 2));
        _model.Insert(index, element);
    }

    private void Cut(SequencePage page, int index, int count)
    {
        page.Cut(Place(page, index), Place(page, index + count), count);
        _model.RemoveRange(index, count);
    }

    private static byte* Place(SequencePage page, int index) => page.At + Sequence.SeekIn(page, default, index).Offset;

    private void Compare(SequencePage page)
    {
        Assert.That(page.Count, Is.EqualTo(_model.Count));
        byte* at = page.First;
        foreach (byte[] element in _model)
        {
            at = SequencePage.Read(at, out byte* bytes, out int length);
            if (!new ReadOnlySpan<byte>(bytes, length).SequenceEqual(element)) Assert.Fail("another element");
        }

        Assert.That(at == page.End, "the last one ends the page");
        for (int i = _model.Count; i > 0; i--) at = SequencePage.Before(at);
        Assert.That(at == page.First, "from behind as many");
        if (page.HasSigns) CompareSigns(page);
    }

    // collections.K1
    private void CompareSigns(SequencePage page)
    {
        int last = 0;
        for (int i = 0; i < SparseIndex.Posts; i++)
        {
            (int place, int before, double score) = page.Signs[i];
            double wanted = before < _model.Count ? BitConverter.ToDouble(_model[before]) : double.PositiveInfinity;
            if (before < last || page.At + place != Place(page, before) || !score.Equals(wanted)) Assert.Fail($"entry of the sparse index {i}");
            last = before;
        }
    }
}
