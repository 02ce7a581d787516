using Garnet.Common;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>store.C4: who writes to the tier's file can give a client another string, and nobody a collection.</summary>
internal sealed unsafe class ForgedRecordTests
{
    private const int Bytes = 200, LongBytes = 3 * (32 << 10), Chunk = 4, Others = 100, Records = 4 + Others; // a long one lies in several segments
    private const long MediumBytes = 4 << 20;

    [Test]
    public void A_collection_or_a_piece_with_another_byte_and_the_right_CRC_is_an_error([Values(Bytes, LongBytes)] int bytes, [Values] bool afterStart)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench first = Filled(medium, bytes);
        NamingList list = NamingList.Of(first.Store);
        Assert.That(first.Forge(medium, static kind => kind is RecordKind.Hash or RecordKind.Chunk, static (record, count) => record[count / 2] ^= 1), Is.AtLeast(3));
        using Bench started = new(Settings(medium));
        Assert.That(list.Load(started.Store), Is.EqualTo(LoadOutcome.Done));
        Bench bench = afterStart ? started : first;
        Assert.That(bench.Tier().Records, Is.EqualTo(Records), "a start goes on with the tier");
        Assert.That(() => bench.Get("packed"), Throws.TypeOf<GarnetException>().With.Message.Contains("its checksum is wrong"));
        Assert.That(() => PieceOf(bench), Throws.TypeOf<GarnetException>().With.Message.Contains("its checksum is wrong"));
        Assert.That(() => bench.Append("packed", [1]), Throws.TypeOf<GarnetException>());
        Assert.That((bench.Tier().ReadFailures, bench.Get("string")), Is.EqualTo((3L, TieredBench.Value(3, bytes))));
        bench.Delete("packed"); // who looks at the end reads all
        bench.Delete("chunked");
    }

    [Test]
    public void A_string_in_the_place_of_a_piece_is_an_error_and_in_that_of_a_collection_a_string([Values(Bytes, LongBytes)] int bytes)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, bytes);
        Assert.That(bench.Forge(medium, static kind => kind == RecordKind.Chunk, BeString), Is.AtLeast(1));
        Assert.That(() => PieceOf(bench), Throws.TypeOf<GarnetException>().With.Message.Contains("its checksum is wrong"));
        Assert.That(bench.Forge(medium, static kind => kind == RecordKind.Hash, BeString), Is.AtLeast(2));
        Assert.That((bench.Get("packed"), bench.Last.Kind), Is.EqualTo((TieredBench.Value(2, bytes), RecordKind.String)));
        bench.ExpectNothingUnderWay();
        Assert.That(() => bench.Get("chunked"), Throws.TypeOf<GarnetException>().With.Message.Contains("its checksum is wrong"), "a string has no number that pieces go by");
        bench.Delete("chunked");
    }

    [Test]
    public void What_another_bytes_make_of_a_string_is_a_string()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, Bytes);
        Assert.That(bench.Forge(medium, static kind => kind == RecordKind.String, static (record, count) => record[count - Bytes] ^= 1), Is.AtLeast(1));
        byte[] other = TieredBench.Value(3, Bytes);
        other[0] ^= 1;
        Assert.That(bench.Get("string"), Is.EqualTo(other));
    }

    [Test]
    public void Where_all_that_is_named_is_read_a_forged_collection_is_none([Values] bool isForeign)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, Bytes);
        NamingList list = NamingList.Of(bench.Store);
        bench.Forge(medium, static kind => kind == RecordKind.Chunk, static (record, count) => record[count / 2] ^= 1);
        using Store again = new(Settings(medium) with { IndexBuckets = isForeign ? 2 : 8 });
        Assert.That(() => list.Load(again, origin: isForeign ? BlockOrigin.Foreign : BlockOrigin.Own),
            Throws.TypeOf<GarnetException>().With.Message.Contains("its checksum is wrong"));
        ColdLosses losses = new();
        using Store mended = new(Settings(medium));
        Assert.That(list.Load(mended, losses: losses), Is.EqualTo(LoadOutcome.Done));
        Assert.That((losses.Keys, losses.Pieces), Is.EqualTo((0L, 1L)));
    }

    [Test]
    public void What_the_build_before_wrote_is_read_and_judged_and_goes_on_under_a_secret([Values(Bytes, LongBytes)] int bytes, [Values] bool isForeign)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, bytes);
        SortedDictionary<string, string> then = Content.Of(bench.Store);
        NamingList list = NamingList.Of(bench.Store);
        bench.AgeTo(medium, list);
        list.ExpectElsewhere(Settings(medium), medium, then);
        using Bench again = new(Settings(medium));
        Assert.That(list.Load(again.Store, origin: isForeign ? BlockOrigin.Foreign : BlockOrigin.Own), Is.EqualTo(LoadOutcome.Done));
        Assert.That(again.Tier().Records, Is.InRange(1, Records - 1), "strings stay where they lie, collections came to memory");
        Assert.That(Content.Of(again.Store), Is.EqualTo(then));
        again.Demote();
        NamingList next = NamingList.Of(again.Store, "two");
        using Bench last = new(Settings(medium));
        Assert.That(next.Load(last.Store, "two"), Is.EqualTo(LoadOutcome.Done));
        Assert.That(last.Tier().Records, Is.EqualTo(Records));
        Assert.That(list.Open(last.Store, "one", isLoaded: false), Is.Not.Null, "the way back is kept");
        Assert.That(Content.Of(last.Store), Is.EqualTo(then));
        Assert.That(last.Store.Core.Tier!.Segments.Secret, Is.EqualTo(again.Store.Core.Tier!.Segments.Secret));
        using Store before = new(Settings(medium));
        Assert.That(list.Load(before), Is.EqualTo(LoadOutcome.Done), "and leads back");
        Assert.That(Content.Of(before), Is.EqualTo(then));
    }

    [Test]
    public void A_start_goes_on_with_the_secret_that_it_finds()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, Bytes);
        NamingList list = NamingList.Of(bench.Store);
        using Bench again = new(Settings(medium));
        list.Load(again.Store);
        again.Set("more", TieredBench.Value(7, Bytes), kind: RecordKind.Hash);
        again.Demote();
        NamingList next = NamingList.Of(again.Store, "two");
        using Bench last = new(Settings(medium));
        Assert.That(next.Load(last.Store, "two"), Is.EqualTo(LoadOutcome.Done));
        Assert.That((last.Get("more"), last.Get("packed"), PieceOf(last)), Is.EqualTo((TieredBench.Value(7, Bytes), TieredBench.Value(2, Bytes), TieredBench.Value(1, Bytes))));
        Assert.That(last.Tier().Reads, Is.Positive);
        Assert.That(last.Store.Core.Tier!.Segments.Secret, Is.EqualTo(bench.Store.Core.Tier!.Segments.Secret));
    }

    private static void BeString(byte* record, int bytes) => record[4] = (byte)RecordKind.String;

    private static StoreSettings Settings(SimulatedMedium medium) => TieredBench.KeptSettings(medium) with { ValueCheck = new Believer() };

    // A root with a piece, a collection without, and a string.
    private static Bench Filled(SimulatedMedium medium, int bytes)
    {
        Bench bench = new(Settings(medium));
        ChunkEdit fill = new() { Number = Chunk, Bytes = TieredBench.Value(1, bytes) };
        bench.Session.Edit(bench.Key("chunked"), ref fill);
        bench.Set("packed", TieredBench.Value(2, bytes), kind: RecordKind.Hash);
        bench.Set("string", TieredBench.Value(3, bytes));
        for (int i = 0; i < Others; i++) bench.Set("other" + i, TieredBench.Value(i, Bytes)); // of the last page a snapshot has a checksum
        bench.Demote();
        Assert.That(bench.Tier().Records, Is.EqualTo(Records));
        return bench;
    }

    private static byte[]? PieceOf(Bench bench)
    {
        ChunkCopy copy = new() { Number = Chunk };
        bench.Session.Examine(bench.Key("chunked"), ref copy);
        return copy.Bytes;
    }
}
