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
}
