using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Garnet.Types.Collections;

/// <summary>
/// Eight elements of a page that is searched by score, noted behind its header: 0-15 their places (2 bytes each), 16-31 how many
/// elements stand before them, 32-95 their scores. A search goes from one of them to the next and touches a ninth of the page; when
/// elements move, all eight are corrected at once. An entry without an element stands at the end, with the greatest score.
/// collections.K1: the sparse index's entries are in order, each at the first byte of an element or at the end.
/// </summary>
public readonly unsafe struct SparseIndex(byte* at)
{
    public const int Bytes = 96;
    /// <summary>Pages of that many bytes and more have none: places would not fit.</summary>
    public const int PageBytesMax = 60_000;
    public const int Posts = 8;

    /// <summary>One of the eight.</summary>
    public (int Place, int Before, double Score) this[int post] => (Place(post), Before(post), Score(post));

    /// <summary>All at the end.</summary>
    public void Clear(int end)
    {
        Vector128.Create((ushort)end).Store((ushort*)at);
        Vector128<ushort>.Zero.Store((ushort*)(at + 16));
        for (int i = 0; i < Posts; i++)
            Score(i) = double.PositiveInfinity;
    }

    /// <summary>Sets them anew, at even distances.</summary>
    public void Set(byte* page, byte* first, int count)
    {
        byte* element = first;
        int index = 0;
        for (int i = 0; i < Posts; i++)
        {
            for (int target = (i + 1) * count / (Posts + 1); index < target; index++)
                element = SequencePage.Read(element, out _, out _);
            Place(i) = (ushort)(element - page);
            Before(i) = (ushort)index;
            Score(i) = count == 0 ? double.PositiveInfinity : ScoreAt(element);
        }
    }

    /// <summary>An element of so many bytes comes to a place: what stands before it moves to the front, or the rest to the end.</summary>
    public void Open(int place, int bytes, bool toFront)
    {
        Vector128<ushort> places = Vector128.Load((ushort*)at), by = Vector128.Create((ushort)bytes);
        Vector128<ushort> behind = Vector128.GreaterThanOrEqual(places, Vector128.Create((ushort)place));
        (toFront ? places - Vector128.AndNot(by, behind) : places + (by & behind)).Store((ushort*)at);
        (Vector128.Load((ushort*)(at + 16)) - behind).Store((ushort*)(at + 16)); // a mask is minus one
    }

    /// <summary>One element between two places went, and the same moved as in <see cref="Open"/>, back. The end is where it is now.</summary>
    public void Cut(byte* page, int from, int to, bool fromFront, int end)
    {
        Vector128<ushort> places = Vector128.Load((ushort*)at), by = Vector128.Create((ushort)(to - from));
        Vector128<ushort> behind = Vector128.GreaterThanOrEqual(places, Vector128.Create((ushort)to));
        Vector128<ushort> gone = Vector128.Equals(places, Vector128.Create((ushort)from));
        Vector128<ushort> moved = fromFront ? places + Vector128.AndNot(by, behind) : places - (by & behind);
        moved.Store((ushort*)at); // in front the place of what went becomes that of what follows by this alone
        (Vector128.Load((ushort*)(at + 16)) + behind).Store((ushort*)(at + 16));
        for (uint lost = gone.ExtractMostSignificantBits(); lost != 0; lost &= lost - 1)
        {
            int i = BitOperations.TrailingZeroCount(lost);
            Score(i) = Place(i) == end ? double.PositiveInfinity : ScoreAt(page + Place(i));
        }
    }

    /// <summary>All elements have moved.</summary>
    public void Slide(int by) => (Vector128.Load((ushort*)at) + Vector128.Create((ushort)by)).Store((ushort*)at);

    /// <summary>Narrows a search for a score: from the last entry of the sparse index below it to the first above it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // CollectionCost: so the stretch may stay in registers
    public void Narrow(byte* page, double score, ref PageRange stretch)
    {
        Vector256<double> wanted = Vector256.Create(score), low = Vector256.Load((double*)(at + 32));
        Vector256<double> high = Vector256.Load((double*)(at + 64));
        int below = BitOperations.PopCount(Vector256.LessThan(low, wanted).ExtractMostSignificantBits()
            | (Vector256.LessThan(high, wanted).ExtractMostSignificantBits() << 4));
        int above = BitOperations.PopCount(Vector256.GreaterThan(low, wanted).ExtractMostSignificantBits()
            | (Vector256.GreaterThan(high, wanted).ExtractMostSignificantBits() << 4));
        if (below > 0)
        {
            stretch.Front = page + Place(below - 1);
            stretch.Before = Before(below - 1);
        }

        if (above > 0)
        {
            stretch.Back = page + Place(Posts - above);
            stretch.BeforeBack = Before(Posts - above);
        }
    }

    private ref ushort Place(int i) => ref ((ushort*)at)[i];

    private ref ushort Before(int i) => ref ((ushort*)(at + 16))[i];

    private ref double Score(int i) => ref ((double*)(at + 32))[i];

    private static double ScoreAt(byte* element)
    {
        SequencePage.Read(element, out byte* bytes, out _);
        return Unsafe.ReadUnaligned<double>(bytes);
    }
}
