using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Common.Time;
using Garnet.Types;
using Tsavorite;

namespace Garnet.Rdb.Test;

/// <summary>A file fills an empty store, or says why it does not.</summary>
public sealed class ImportTests
{
    private const int Databases = 2, NowMs = 1_000_000;

    private static readonly byte[] Head = [.. "REDIS0009"u8], End = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0]; // 0: written without a checksum

    private string _path = "";

    [SetUp]
    public void Begin() => _path = Path.Combine(TestContext.CurrentContext.WorkDirectory, $"{TestContext.CurrentContext.Test.ID}.rdb");

    [TearDown]
    public void Remove() => File.Delete(_path);

    [Test]
    public void Keys_go_to_their_databases()
    {
        using Store store = Filled([0xFE, 0, .. Text("a", "1"), .. Text("b", "2"), 0xFE, 1, .. Text("a", "3")], out RdbImport import);
        Assert.That(import.Keys, Is.EqualTo(3));
        Assert.That(store.Count(store.Namespaces.Id(0)), Is.EqualTo(2));
        Assert.That(store.Count(store.Namespaces.Id(1)), Is.EqualTo(1));
    }

    [Test]
    public void A_key_whose_time_has_come_is_left_out()
    {
        byte[] past = [0xFC, .. BitConverter.GetBytes((long)NowMs)], future = [0xFC, .. BitConverter.GetBytes(NowMs + 1L)];
        using Store store = Filled([.. past, .. Text("a", "1"), .. future, .. Text("b", "2"), .. Text("c", "3")], out RdbImport import);
        Assert.That((import.Keys, import.Expired), Is.EqualTo((2, 1)), "an expiry is of the next key alone");
    }

    [Test]
    public void Libraries_are_taken_and_data_of_modules_left_out()
    {
        using Store store = Filled([0xF5, 3, .. "lib"u8, 0xF7, 1, 2, 5, 0], out RdbImport import);
        Assert.That((import.Functions, import.Skipped), Is.EqualTo((1, 1)));
    }

    // What RDB has no form for: in front of the key that has it, or behind the one whose members have it.
    [Test]
    public unsafe void What_fields_of_our_own_tell_is_of_one_key()
    {
        byte[] sorted = [(byte)RdbType.SortedSet, 1, (byte)'z', 2, 1, (byte)'m', .. BitConverter.GetBytes(1.0), 1, (byte)'n', .. BitConverter.GetBytes(2.0)];
        byte[] entries = [.. Field("garnet-etag", BitConverter.GetBytes(7L)), .. Text("a", "1"), .. Text("b", "2"), .. sorted,
            .. Field("garnet-member-time", [.. BitConverter.GetBytes(NowMs + 5L), (byte)'m']), .. Field("other", [1, 2])];
        using Store store = Filled(entries, out RdbImport import);
        Assert.That(import.Keys, Is.EqualTo(3));
        using StoreSession session = store.OpenSession();
        byte[] written = Written(store, session, "a"), plain = Written(store, session, "b"), members = Written(store, session, "z");
        Assert.That(written, Is.EqualTo((byte[])[.. Field("garnet-etag", BitConverter.GetBytes(7L)), .. Text("a", "1")]));
        Assert.That(plain, Is.EqualTo(Text("b", "2")));
        Assert.That(members.AsSpan().EndsWith(Field("garnet-member-time", [.. BitConverter.GetBytes(NowMs + 5L), (byte)'m'])), Is.True);
        Assert.That(members, Has.Length.EqualTo(sorted.Length + Field("garnet-member-time", new byte[9]).Length), "the other member has no time");
    }

    [TestCase("garnet-etag", 7, "an entry is damaged")]
    [TestCase("garnet-etag", 9, "an entry is damaged")]
    [TestCase("garnet-member-time", 7, "an entry is damaged")]
    [TestCase("garnet-member-time", 8, "a member expires that is not there")]
    public void A_field_of_our_own_that_cannot_be_is_refused(string name, int bytes, string why)
    {
        byte[] sorted = [(byte)RdbType.SortedSet, 1, (byte)'z', 1, 1, (byte)'m', .. BitConverter.GetBytes(1.0)];
        Assert.That(() => Filled([.. sorted, .. Field(name, [.. Enumerable.Repeat((byte)1, bytes)]), .. Text("a", "1")], out _),
            Throws.TypeOf<GarnetException>().With.Message.Contains(why));
    }

    [TestCase(new byte[] { 0xFE, 2 }, "raise --databases")]
    [TestCase(new byte[] { 7, 1, (byte)'a', 0 }, "is of type 7")]
    [TestCase(new byte[] { 0, 1, (byte)'a', 60 }, "is damaged")]
    [TestCase(new byte[] { 0xFA, 60 }, "an entry is damaged")]
    public void What_is_not_understood_is_said(byte[] entries, string why) =>
        Assert.That(() => Filled(entries, out _), Throws.TypeOf<GarnetException>().With.Message.Contains(why));

    [TestCase("RODIS0009", "it does not begin as an RDB file does")]
    [TestCase("REDIS0013", "versions 1 to 12")]
    [TestCase("REDIS", "too short")]
    public void A_file_of_something_else_is_refused(string head, string why)
    {
        File.WriteAllText(_path, head.Length < 9 ? head : head + "  ");
        Assert.That(() => new RdbFile(_path), Throws.TypeOf<GarnetException>().With.Message.Contains(why));
    }

    private Store Filled(byte[] entries, out RdbImport import)
    {
        File.WriteAllBytes(_path, [.. Head, .. entries, .. End]);
        var store = new Store(new StoreSettings { BackgroundMovers = false });
        try
        {
            using var file = new RdbFile(_path);
            using (import = new RdbImport(store, file, new EncodingSettings(), Databases, NowMs, new JobProgress("importing", SystemClock.Instance)))
                import.Run();
            return store;
        }
        catch (GarnetException)
        {
            store.Dispose();
            throw;
        }
    }

    private static byte[] Text(string key, string value) => [0, (byte)key.Length, .. key.Select(static letter => (byte)letter), (byte)value.Length, .. value.Select(static letter => (byte)letter)];

    private static byte[] Field(string name, byte[] text) =>
        [(byte)RdbMark.Auxiliary, (byte)name.Length, .. name.Select(static letter => (byte)letter), (byte)text.Length, .. text];

    // The entry of a key as a backup has it.
    private static unsafe byte[] Written(Store store, StoreSession session, string name)
    {
        byte[] padded = [(byte)name[0], .. new byte[32]];
        fixed (byte* key = padded)
        {
            KeyRef found = store.Key(key, 1, store.Namespaces.Id(0));
            var encoder = new RdbEncoder { TellsAll = true, Key = new Arg { Bytes = key, Length = 1 } };
            session.Examine(in found, ref encoder, quiet: true);
            byte[] bytes = new ReadOnlySpan<byte>(encoder.To.Bytes.Head, encoder.To.Bytes.Count).ToArray();
            encoder.To.Bytes.Free();
            return bytes;
        }
    }
}
