using Garnet.Server.Base;

namespace Garnet.Server.Test;

public sealed class ServerLogTests
{
    [Test]
    public void A_first_term_begins_behind_nothing()
    {
        Assert.That(Said(static log => log.Promoted(1, 0, "0:0:")), Is.EqualTo("Information This server is a primary now: term 1 begins with the first batch"));
        Assert.That(Said(static log => log.Promoted(64, 7, "1:7:0000002a")), Does.EndWith("term 64 begins behind 1:7:0000002a"));
    }

    [Test]
    public void An_import_that_left_nothing_out_does_not_speak_of_it()
    {
        Assert.That(Said(static log => log.Imported("dump.rdb", 3, 0, 5)), Is.EqualTo("Information Imported dump.rdb: 3 keys in 5 ms"));
        Assert.That(Said(static log => log.Imported("dump.rdb", 3, 1, 5)), Does.Contain("; 1 were left out"));
    }

    [Test]
    public void One_write_that_is_discarded_is_a_write()
    {
        Assert.That(Said(static log => log.Discarded("batch 7", 1, null)), Is.EqualTo("Warning Discarded 1 write that this server had up to batch 7 and the primary never had"));
        Assert.That(Said(static log => log.Discarded("batch 7", 2, "x.orphan")), Does.Contain("Discarded 2 writes that").And.EndWith("; they are kept in x.orphan"));
    }

    private static string Said(Action<ServerLog> what)
    {
        var lines = new RecordedLines();
        what(new ServerLog(lines));
        return lines.All.Single();
    }
}
