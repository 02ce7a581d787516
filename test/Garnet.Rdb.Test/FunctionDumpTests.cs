using Garnet.Wire.Rdb;

namespace Garnet.Rdb.Test;

/// <summary>Libraries of functions as bytes, and in a store.</summary>
public sealed class FunctionDumpTests
{
    private static readonly byte[][] Sources = ["#!lua name=one\n"u8.ToArray(), [], "#!lua name=two\nreturn 1"u8.ToArray()];

    [Test]
    public void What_is_dumped_is_read_again() => Assert.That(FunctionDump.Read(FunctionDump.Write(Sources)), Is.EqualTo(Sources));

    [Test]
    public void No_libraries_are_a_dump_too() => Assert.That(FunctionDump.Read(FunctionDump.Write([])), Is.Empty);

    [Test]
    public void A_dump_that_is_cut_or_of_something_else_is_refused()
    {
        byte[] dump = FunctionDump.Write(Sources);
        for (int bytes = 0; bytes < dump.Length; bytes++)
            Assert.That(FunctionDump.Read(dump.AsSpan(0, bytes)), Is.Null, $"{bytes} of {dump.Length} bytes");
        Assert.That(FunctionDump.Read(Payloads.Close([0, 5, .. "hello"u8])), Is.Null, "a string is no library");
    }

    [Test]
    public void A_store_keeps_them_under_a_mark_that_changes_with_them()
    {
        using var kept = new ValueStore();
        using var record = new FunctionRecord();
        Assert.That(record.Mark(kept.Store, kept.Session), Is.EqualTo(Guid.Empty));
        record.Write(kept.Store, kept.Session, Sources, out Guid first);
        Assert.That(record.Read(kept.Store, kept.Session, [], out Guid mark), Is.EqualTo(Sources));
        Assert.That(mark, Is.EqualTo(first));
        record.Write(kept.Store, kept.Session, [], out Guid second);
        Assert.That(second, Is.Not.EqualTo(first));
        Assert.That(record.Mark(kept.Store, kept.Session), Is.EqualTo(second));
    }
}
