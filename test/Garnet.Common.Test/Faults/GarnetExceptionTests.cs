namespace Garnet.Common.Test.Faults;

public sealed class GarnetExceptionTests
{
    [Test]
    public void A_sentence_that_came_with_its_full_stop_does_not_get_another()
    {
        var refused = new GarnetException(ExitKind.Data, "it cannot be read", "No such file.", "Look at the disk.");
        Assert.That(refused.Message, Is.EqualTo("it cannot be read: No such file. Look at the disk"));
        Assert.That((refused.Why, refused.Next), Is.EqualTo(("No such file", "Look at the disk")));
    }

    [Test]
    public void What_it_quotes_of_a_bad_file_does_nothing_to_a_terminal()
    {
        var refused = new GarnetException(ExitKind.Configuration, "it cannot be read", "f:2: \0\0foo\e[2J: no such setting\nf:3: é", "Correct it");
        Assert.That(refused.Why, Is.EqualTo("f:2: \\x00\\x00foo\\x1b[2J: no such setting\nf:3: é"));
        Assert.That(refused.Message, Does.Contain("\\x00foo").And.Not.Contain("\0"));
    }
}
