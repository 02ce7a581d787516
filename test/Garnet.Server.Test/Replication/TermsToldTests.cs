using Garnet.Aof;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication;

/// <summary>Terms that a primary told of and from which nothing came before this server was promoted.</summary>
internal sealed class TermsToldTests
{
    /// <summary>Found by the simulation: a token of batch 19 in term 64 was good on a server that had gone on behind batch 18.</summary>
    [Test]
    public void A_term_that_was_told_of_and_never_came_is_no_part_of_the_history_that_goes_on_without_it()
    {
        var terms = new Terms();
        terms.Take([new TermStart(64, 11, 1), new TermStart(128, 20, 64)]);
        terms.Add(new TermStart(192, 19, 64));
        Assert.That(terms.LastOf(64), Is.EqualTo(18));
        Assert.That(terms.Known.Select(static term => term.Term), Is.EqualTo((uint[])[64, 192]));
    }
}
