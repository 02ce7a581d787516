using Garnet.Aof;

namespace Garnet.Replication.Test;

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

    /// <summary>Found by the simulation: tokens of the server that had begun the term were good on one that took its number.</summary>
    [Test]
    public void A_term_that_was_told_of_is_not_begun_by_somebody_else()
    {
        var terms = new Terms();
        terms.Take([new TermStart(128, 10, 65) { Owner = 1 }, new TermStart(192, 12, 128) { Owner = 2 }]);
        Assert.That((terms.AfterStart(128), terms.AfterPromotion(128)), Is.EqualTo((193u, 256u)));
        terms.Add(new TermStart(256, 12, 128) { Owner = 3 });
        Assert.That(terms.OwnerOf(256), Is.EqualTo(3));
        Assert.That(terms.Judge((192, 12, 2), 256, 12, isReadable: true), Is.EqualTo(TokenState.GivenUp));
    }
}
